// The session in a page or its worker.
import { NearfieldError } from '../errors.js';
import { fetchedCode } from '../module/fetch.js';
import { loadModule, type LoadedModule } from '../module/load.js';
import type { OpenCall } from '../protocol.js';
import type { Backend } from '../storage/backend.js';
import { readStoredFiles } from '../storage/idbfs-files.js';
import { IndexedDbBackend } from '../storage/indexeddb.js';
import { MemoryBackend } from '../storage/memory.js';
import { takeLock, waitForTurn } from '../storage/lock.js';
import { OpfsPool, folderOf, offersOpfs } from '../storage/opfs-pool.js';
import { OpfsSnapshot, snapshotOf } from '../storage/opfs-snapshot.js';
import { OpfsBackend } from '../storage/opfs.js';
import { fetchPacked } from './packed.js';
import { Session, type SessionHost } from './session.js';
import { threadPlan } from './thread-plan.js';

/** Errors with which browsers refuse a storage altogether. */
const refusals = new Set(['SecurityError', 'InvalidStateError', 'NotSupportedError']);

const isRefusal = (error: unknown): boolean => error instanceof DOMException && refusals.has(error.name);

const inMemory = (what: string): string =>
  `this browser offers no ${what} here (a private window, perhaps): the store is kept in memory only`;

const unsupported = (detail: string): NearfieldError => new NearfieldError('UNSUPPORTED', detail);

interface Opened {
  backend: Backend;
  warning?: string;
}

async function openIndexedDb(loading: Promise<LoadedModule>, { name }: OpenCall): Promise<Opened> {
  const [files, { module }] = await Promise.all([readStoredFiles(name), loading]);
  return { backend: new IndexedDbBackend(module, files) };
}

async function openOpfs(loading: Promise<LoadedModule>, { name, readOnly }: OpenCall): Promise<Opened> {
  const folder = await folderOf(name, !readOnly);
  if (readOnly || !folder) {
    const [files, { module }] = await Promise.all([snapshotOf(folder), loading]);
    return { backend: new OpfsSnapshot(module.heap, files) };
  }
  const pool = await OpfsPool.open(folder);
  try {
    const { module } = await loading;
    return { backend: await OpfsBackend.open(module.heap, pool) };
  } catch (error) {
    pool.close();
    throw error;
  }
}

/** `program`: what a thread's worker runs; undefined where there can be none. */
export const pageHost = (program?: string): SessionHost => ({
  loadModule: ({ wasm, threads }) =>
    loadModule(fetchedCode(wasm ?? {}), threadPlan(threads, navigator.hardwareConcurrency, program)),

  async openStorage(loading, call) {
    const { storage } = call;
    const memory = async (): Promise<MemoryBackend> => new MemoryBackend((await loading).module.heap);
    if (storage === 'memory') return { backend: await memory() };
    if (typeof storage === 'object') {
      throw unsupported('storage { folder } is for Node; a page has "indexeddb", "opfs" and "memory"');
    }
    if (storage === 'opfs' && !offersOpfs()) {
      throw unsupported('storage "opfs" needs the engine in a worker, and a browser that has it; use "indexeddb"');
    }
    const what = storage === 'opfs' ? 'OPFS' : 'IndexedDB';
    if (storage === 'indexeddb' && typeof indexedDB === 'undefined') return { backend: await memory(), warning: inMemory(what) };
    try {
      return await (storage === 'opfs' ? openOpfs(loading, call) : openIndexedDb(loading, call));
    } catch (error) {
      if (isRefusal(error)) return { backend: await memory(), warning: inMemory(what) };
      throw error;
    }
  },

  lock({ name, storage, readOnly, shared = false }) {
    if (readOnly || shared || typeof storage !== 'string' || storage === 'memory') return Promise.resolve(() => {});
    return takeLock(name, storage);
  },

  async join({ name, storage }) {
    const shares = navigator.locks && typeof BroadcastChannel !== 'undefined';
    if (!shares || (storage !== 'indexeddb' && storage !== 'opfs')) {
      throw unsupported('sharing a store needs "indexeddb" or "opfs", and a browser with Web Locks and broadcast channels');
    }
    const unlock = await takeLock(name, storage, 'shared');
    const ending = new AbortController();
    return {
      turn: new Promise((resolve) => waitForTurn(name, storage, ending.signal, resolve)),
      end() {
        ending.abort();
        unlock();
      },
    };
  },

  async persisted() {
    return (await globalThis.navigator?.storage?.persisted?.()) ?? false;
  },

  fetchPacked,
});

export const pageSession = (): Session => new Session(pageHost());
