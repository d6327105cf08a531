// The session in Node.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { NearfieldError } from '../errors.js';
import { loadModule, type CodeSource } from '../module/load.js';
import { fileOf } from '../module/probe.js';
import { FolderLock } from '../storage/folder-lock.js';
import { FolderBackend } from '../storage/folder.js';
import { MemoryBackend } from '../storage/memory.js';
import { fetchPacked } from './packed.js';
import type { SessionHost } from './session.js';
import { threadPlan } from './thread-plan.js';

// Not a literal inside new URL(): bundlers for Node would move the files elsewhere.
const here = import.meta.url;

const besideProgram: CodeSource = async (variant) => {
  const bytes = await readFile(new URL(fileOf(variant), here));
  return WebAssembly.compile(bytes);
};

const fromAddresses =
  (addresses: Partial<Record<string, string>>): CodeSource =>
  async (variant) => {
    const address = addresses[variant];
    return address === undefined ? undefined : WebAssembly.compile(await readFile(new URL(address)));
  };

/** `program`: what a thread's worker runs; undefined where there can be none. */
export const nodeHost = (program?: string): SessionHost => ({
  loadModule: ({ wasm, threads }) =>
    loadModule(wasm ? fromAddresses(wasm) : besideProgram, threadPlan(threads, availableParallelism(), program)),

  async openStorage(loading, { storage, readOnly }) {
    const { module } = await loading;
    const { heap } = module;
    if (storage === 'memory') return { backend: new MemoryBackend(heap) };
    if (typeof storage === 'string') {
      throw new NearfieldError('UNSUPPORTED', `Node has no storage "${storage}"; use { folder: "…" } or "memory"`);
    }
    return { backend: new FolderBackend(heap, storage.folder, readOnly) };
  },

  async lock({ storage, readOnly }) {
    if (readOnly || typeof storage === 'string') return () => {};
    const lock = FolderLock.take(storage.folder);
    return () => lock.release();
  },

  persisted: () => Promise.resolve(false),
  fetchPacked: (address, context) =>
    address.startsWith('file:') ? readFile(new URL(address)) : fetchPacked(address, context),
});
