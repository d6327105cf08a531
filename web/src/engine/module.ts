// The wasm module as TypeScript sees it: what wasm/bindings.cpp registers, and the few parts of Emscripten's
// runtime that the storage backends need.

export interface Reply {
  /** -1, or the number of an ErrorCode. */
  code: number;
  detail: string;
  value: number;
  total: number;
  /** Address and length of the answer, valid until the next call. */
  data: number;
  size: number;
}

/** What the engine calls to reach files; see storage/backend.ts. */
export interface StorageCalls {
  readonly preferredFileBytes: number;
  /** What went wrong in the call that returned a negative number. */
  detail: string;
  /** The answer of the last list(). */
  names: readonly string[];
  list(): number;
  size(name: string): number;
  read(name: string, offset: number, address: number, length: number): number;
  create(name: string): number;
  append(file: number, address: number, length: number): number;
  finish(file: number): number;
  remove(name: string): number;
  sync(): number;
}

export interface NativeEngine {
  open(storage: StorageCalls, create: boolean, readOnly: boolean, kernels: string): Reply;
  stage(which: number, size: number): number;
  collection(
    name: string,
    dimensions: number,
    metric: number,
    rowType: number,
    m: number,
    efConstruction: number,
    seed: number,
  ): Reply;
  find(name: string): Reply;
  names(): Reply;
  drop(name: string): Reply;
  upsert(collection: number, rows: number, hasMetadata: boolean): Reply;
  link(collection: number, budgetMicroseconds: number): Reply;
  compact(collection: number, budgetMicroseconds: number): Reply;
  remove(collection: number, count: number): Reply;
  clear(collection: number): Reply;
  get(collection: number, count: number): Reply;
  /** `ef` 0: none is given, and `recall` counts. */
  search(
    collection: number,
    queries: number,
    k: number,
    recall: number,
    ef: number,
    exact: boolean,
    include: number,
    among: boolean,
  ): Reply;
  fields(collection: number): Reply;
  setFields(collection: number): Reply;
  select(collection: number): Reply;
  removeSelected(collection: number): Reply;
  facets(collection: number, field: string, top: number): Reply;
  rank(
    collection: number,
    hasVector: boolean,
    hasText: boolean,
    among: boolean,
    k: number,
    offset: number,
    recall: number,
    ef: number,
    exact: boolean,
    include: number,
    fusion: number,
    vectorWeight: number,
    textWeight: number,
    allWords: boolean,
  ): Reply;
  order(
    collection: number,
    field: string,
    descending: boolean,
    k: number,
    offset: number,
    include: number,
  ): Reply;
  options(collection: number): Reply;
  stats(collection: number): Reply;
  flush(): Reply;
  dirty(): boolean;
  info(): Reply;
  pack(destination: StorageCalls, name: string): Reply;
  /** Frees the database. */
  delete(): void;
}

/** A file or folder in Emscripten's memory file system. */
export interface FileNode {
  contents: Uint8Array | null;
  usedBytes: number;
}

export interface IdbfsEntry {
  timestamp: Date;
  mode: number;
  contents?: Uint8Array;
}

/** The parts of Emscripten's IDBFS that storage/indexeddb.ts uses. */
export interface Idbfs {
  dbs: Record<string, IDBDatabase>;
  reconcile: (this: void, from: unknown, to: unknown, done: (error?: unknown) => void) => void;
  storeRemoteEntry(store: IDBObjectStore, path: string, entry: IdbfsEntry, done: (error?: unknown) => void): void;
}

export interface FileSystem {
  filesystems: { IDBFS: Idbfs };
  mkdirTree(path: string): void;
  mount(type: unknown, options: object, path: string): void;
  unmount(path: string): void;
  readdir(path: string): string[];
  stat(path: string): { size: number; mtime: Date };
  lookupPath(path: string): { node: FileNode };
  analyzePath(path: string): { exists: boolean };
  writeFile(path: string, contents: Uint8Array, options: { canOwn: boolean }): void;
  utime(path: string, accessed: number, modified: number): void;
  unlink(path: string): void;
  syncfs(populate: boolean, done: (error: Error | null) => void): void;
}

/** What the glue makes. */
export interface GlueModule {
  readonly HEAPU8: Uint8Array;
  readonly FS: FileSystem;
  readonly Engine: new () => NativeEngine;
  unpack(source: StorageCalls, file: string, destination: StorageCalls): Reply;
  errorCodes(): string;
  selfCheck(): boolean;
  memoryBytes(): number;
  version(): string;
}

export interface EngineModule extends GlueModule {
  /** The engine's memory, replaced whenever it grows: never kept across a call. */
  readonly heap: () => Uint8Array;
}

/** Of the variants with threads. */
export interface ThreadedModule extends GlueModule {
  /** Sets how many threads there will be, the calling one included. Before a database is opened. */
  planThreads(count: number): void;
  /** Runs them in PThread.unusedWorkers, which are loaded and as many as are needed. */
  startThreads(): void;
  readonly PThread: {
    readonly unusedWorkers: readonly Worker[];
    allocateUnusedWorker(): void;
    loadWasmModuleToWorker(worker: Worker): Promise<unknown>;
    terminateAllThreads(): void;
  };
}

export type Instantiate = (
  imports: WebAssembly.Imports,
  done: (instance: WebAssembly.Instance, code: WebAssembly.Module) => void,
) => object;

/** Emscripten's factory, one per variant. */
export type ModuleFactory = (options: {
  instantiateWasm: Instantiate;
  print: (text: string) => void;
  printErr: (text: string) => void;
  /** With threads: the memory they share, and the program of their workers. */
  wasmMemory?: WebAssembly.Memory;
  mainScriptUrlOrBlob?: string;
}) => Promise<GlueModule>;
