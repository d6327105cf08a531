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
  DB_STORE_NAME: string;
  getDB(name: string, done: (error: Error | null, database: IDBDatabase) => void): void;
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

export interface EngineModule {
  /** Replaced whenever the memory grows: never kept across a call. */
  readonly HEAPU8: Uint8Array;
  readonly FS: FileSystem;
  readonly Engine: new () => NativeEngine;
  unpack(source: StorageCalls, file: string, destination: StorageCalls): Reply;
  errorCodes(): string;
  selfCheck(): boolean;
  memoryBytes(): number;
  version(): string;
}

export type Instantiate = (imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) => object;

/** Emscripten's factory, one per variant. */
export type ModuleFactory = (options: {
  instantiateWasm: Instantiate;
  print: (text: string) => void;
  printErr: (text: string) => void;
}) => Promise<EngineModule>;
