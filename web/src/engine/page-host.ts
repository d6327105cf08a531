// The session in a page or its worker.
import { NearfieldError } from '../errors.js';
import { fetchedCode } from '../module/fetch.js';
import { loadModule } from '../module/load.js';
import { readStoredFiles } from '../storage/idbfs-files.js';
import { IndexedDbBackend } from '../storage/indexeddb.js';
import { MemoryBackend } from '../storage/memory.js';
import { takeLock } from '../storage/lock.js';
import { fetchPacked } from './packed.js';
import { Session, type SessionHost } from './session.js';
import { threadPlan } from './thread-plan.js';

const inMemory = 'this browser offers no IndexedDB here (a private window, perhaps): the store is kept in memory only';

/** Names of errors with which browsers refuse IndexedDB altogether. */
const refusals = new Set(['SecurityError', 'InvalidStateError', 'NotSupportedError']);

/** `program`: what a thread's worker runs; undefined where there can be none. */
export const pageHost = (program?: string): SessionHost => ({
  loadModule: ({ wasm, threads }) =>
    loadModule(fetchedCode(wasm ?? {}), threadPlan(threads, navigator.hardwareConcurrency, program)),

  async openStorage(loading, { name, storage }) {
    const memory = async (): Promise<MemoryBackend> => {
      const { module } = await loading;
      return new MemoryBackend(module.heap);
    };
    if (storage === 'memory') return { backend: await memory() };
    if (storage !== 'indexeddb') {
      throw new NearfieldError('UNSUPPORTED', 'storage { folder } is for Node; a page has "indexeddb" and "memory"');
    }
    if (typeof indexedDB === 'undefined') return { backend: await memory(), warning: inMemory };
    try {
      const [files, { module }] = await Promise.all([readStoredFiles(name), loading]);
      return { backend: new IndexedDbBackend(module, files) };
    } catch (error) {
      if (error instanceof DOMException && refusals.has(error.name)) {
        return { backend: await memory(), warning: inMemory };
      }
      throw error;
    }
  },

  lock: ({ name, storage, readOnly }) =>
    storage === 'indexeddb' && !readOnly ? takeLock(name) : Promise.resolve(() => {}),

  async persisted() {
    return (await globalThis.navigator?.storage?.persisted?.()) ?? false;
  },

  fetchPacked,
});

export const pageSession = (): Session => new Session(pageHost());
