/// <reference lib="esnext.disposable" preserve="true" />
// The public types. They say what is accepted and what comes back; client/ and sync.ts implement them.

/**
 * A record's name: a string, an integer within ±(2^53 − 1), or a bigint beyond that range (within 64 bits).
 * It comes back with the type it was given. 7 and "7" are two ids.
 */
export type Id = string | number | bigint;

/** One vector. Values are kept as 32-bit floats, or as 16-bit ones where the collection says so. */
export type Vector = Float32Array | Float64Array | readonly number[];

/** How near two vectors are; `distance` is smaller when nearer, `score` larger:
 * - `cosine`: distance 1 − cos, score 1 − distance; a zero vector is at distance 1 from everything
 * - `l2`: the squared Euclidean distance, score 1 / (1 + distance)
 * - `dot`: distance is the negated dot product, score the dot product
 */
export type Metric = 'cosine' | 'l2' | 'dot';

/** How vectors are kept:
 * - `f32`: as 32-bit floats
 * - `f16`: rounded to 16-bit floats, in half the memory; values within ±65504. The rounded values are what is
 *   searched and what comes back.
 */
export type RowType = 'f32' | 'f16';

/** What the values of a field are, and what can be asked of them:
 * - `tag`: a string or a list of strings; filters, facets, order
 * - `number`: a finite number (a date as its milliseconds); filters, order
 * - `bool`: true or false; filters, order
 * - `text`: a string or a list of strings; full text
 * - `keyword`: such as a SKU: filters and facets as a tag, and found by full text, whole and regardless of case
 */
export type FieldType = 'tag' | 'number' | 'bool' | 'text' | 'keyword';

export interface FieldOptions {
  type: FieldType;
  /** Of a text: whether words like "the" can be found. Default true. */
  stopWords?: boolean;
  /** Of a text or keyword: whether `wire*` finds "wireless". Default true. */
  prefix?: boolean;
}

/** Fields by name: a member of the metadata, or the way to a nested one ("author.name"). */
export type Fields = Readonly<Record<string, FieldType | FieldOptions>>;

type FilterValue = string | number | bigint | boolean | Date;

/** What a filter says of one field. */
export type Condition =
  | FilterValue
  | {
      $eq?: FilterValue;
      $ne?: FilterValue;
      $gt?: number | Date;
      $gte?: number | Date;
      $lt?: number | Date;
      $lte?: number | Date;
      $in?: readonly FilterValue[];
      $nin?: readonly FilterValue[];
      $exists?: boolean;
      $not?: Condition;
    };

/**
 * Which records a search may return: `{ tag: { $in: ['a', 'b'] }, price: { $lt: 100 } }`. Several fields must all
 * hold. A list matches when one of its elements does; `$ne` and `$nin` match records without the field, too. `$id`
 * stands for the id.
 */
export interface Filter {
  $and?: readonly Filter[];
  $or?: readonly Filter[];
  $not?: Filter;
  [field: string]: Condition | Filter | readonly Filter[] | undefined;
}

/** Fixed when a collection is created; opening it with other values fails with `OPTIONS_MISMATCH`. */
export interface CollectionOptions {
  /** What can be filtered, ordered and searched by; `setFields` changes it later. Default none. */
  fields?: Fields;
  /** 1 to 16384. May be left out to open a collection that exists. */
  dimensions?: number;
  /** Default `cosine`. */
  metric?: Metric;
  /** Default `f32`. */
  storage?: RowType;
  /** Half of the links a row keeps: 2 to 64, default 16. */
  m?: number;
  /** Candidates considered while a row is linked: `m` to 4096, default 200. */
  efConstruction?: number;
  /** Seed of the pseudo-random choices of a build: the same rows and options give the same graph. Default 1. */
  seed?: number;
}

export interface StoredRecord<Meta = unknown> {
  id: Id;
  vector: Float32Array;
  metadata?: Meta;
}

export interface VectorRecord<Meta = unknown> {
  id: Id;
  vector: Vector;
  /** Any value that JSON can hold. */
  metadata?: Meta | undefined;
}

/** What to change of a record that is there; what is left out stays as it is. */
export interface RecordUpdate<Meta = unknown> {
  id: Id;
  vector?: Vector | undefined;
  /** Takes the place of the whole metadata. */
  metadata?: Meta | undefined;
}

/** A batch as arrays side by side: the quickest way in. */
export interface VectorBatch<Meta = unknown> {
  ids: readonly Id[];
  /** Row after row, `ids.length` × dimensions values; or one vector per id. */
  vectors: Float32Array | readonly Vector[];
  /** One value per id; `undefined` for none. */
  metadata?: readonly (Meta | undefined)[];
}

export interface Progress {
  /**
   * `loading-engine`, `reading` (from storage) and `fetching` (of `from`) while opening; `storing` and
   * `linking` while rows are added; `writing` while a flush is under way.
   */
  phase: 'loading-engine' | 'fetching' | 'reading' | 'storing' | 'linking' | 'writing';
  /** Units of work done and in all: bytes for `fetching`, rows for `storing`, otherwise steps. `total` is 0 when unknown. */
  done: number;
  total: number;
}

export interface CallOptions {
  /** Asks to stop; the call then fails with code `ABORTED`. */
  signal?: AbortSignal | undefined;
}

export interface LongCallOptions extends CallOptions {
  /** Called now and then while the call works. What it throws is ignored. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

export type Include = 'metadata' | 'vector' | 'highlights';

export interface TextQuery {
  /** Words, `"phrases"` and `prefix*`. */
  query: string;
  /** Where to look; with numbers, what a match there weighs. Default every text and keyword field. */
  fields?: readonly string[] | Readonly<Record<string, number>>;
  /** Whether records must have every word or any. Default `any`. */
  match?: 'any' | 'all';
}

/** How vector and text together make one order: by reciprocal ranks, by weighted scores, or the text's matches by vector. */
export type Fuse = 'rrf' | 'rerank' | { readonly vector: number; readonly text: number };

/** A part of a text that matches, and where: begin and end of each match, as indices of the string. */
export interface Highlight {
  text: string;
  ranges: [number, number][];
}

export interface SearchOptions {
  /** Rows wanted, 1 or more; fewer come back only when the collection holds fewer. Default 10. */
  k?: number;
  /**
   * The share of the `k` nearest that a search is expected to find, above 0 and below 1. Default 0.98. How far it has
   * to look for that is measured while linking; queries unlike the rows may find less.
   */
  recall?: number;
  /** Instead of `recall`: candidates kept while walking the graph. More finds more and takes longer. Raised to `k`. */
  ef?: number;
  /** Compares with every row instead of walking the graph. */
  exact?: boolean;
  /** Only records that match. */
  where?: Filter;
  /** What to return beside id, score and distance. Default nothing. */
  include?: readonly Include[];
  signal?: AbortSignal | undefined;
}

/** By vector, by text, by both, or by neither: then what `where` matches, in an order. */
export interface SearchQuery extends SearchOptions {
  vector?: Vector;
  text?: string | TextQuery;
  /** Of vector and text. Default `rrf`. */
  fuse?: Fuse;
  /** Records to pass over, for pages. Default 0. */
  offset?: number;
  /** Without vector and text: the field to order by. Default the order in which records were stored. */
  orderBy?: string | { readonly field: string; readonly order?: 'asc' | 'desc' };
}

/** What a search found and how it went about it. */
export interface Explained<Meta = unknown> {
  hits: SearchHit<Meta>[];
  /** `scan`, `code-scan`, `bridged-walk` or `walk` (of the vector), `text` or `order`. */
  plan: string;
  /** Records that match `where`; undefined without it. */
  matches: number | undefined;
  /** Records that match the text; undefined without it. */
  textMatches: number | undefined;
}

export interface FacetCount {
  value: string;
  count: number;
}

export interface SearchManyQuery extends SearchOptions {
  /** Query after query in one array, or one vector per query. */
  vectors: Float32Array | readonly Vector[];
}

/** A copy: nothing that happens later changes it. */
export interface SearchHit<Meta = unknown> {
  id: Id;
  /** Larger is better. */
  score: number;
  /** Smaller is nearer; NaN when there was no vector to measure from. */
  distance: number;
  metadata?: Meta;
  vector?: Float32Array;
  /** By field: what the text matched. */
  highlights?: Record<string, Highlight[]>;
}

export interface CollectionStats {
  /** Live records. */
  count: number;
  /** Places in use, those of deleted records included. */
  rows: number;
  /** How many of them are in the graph; the others are found by scanning. */
  linked: number;
  /** Vectors, codes, links, ids and metadata in memory. */
  memoryBytes: number;
  /** Since the collection was opened, by searches and by linking. */
  distanceComputations: number;
  /** How many of those were done by linking. */
  buildDistances: number;
}

export interface DatabaseInfo {
  formatVersion: number;
  /** Flushes since the store was created. */
  generation: number;
  /** In storage, as of the last flush. */
  bytes: number;
  bytesByKind: Record<string, number>;
  /** The engine build in use: `simd`, `relaxed`, `simd-threads` or `relaxed-threads`. */
  variant: string;
  /** How many threads builds and batches of searches use. */
  threads: number;
  /** The distance kernels in use. */
  kernels: string;
  /** What opening had to repair, a sentence each. */
  warnings: string[];
  /** The engine's version. */
  version: string;
  /** The size of the engine's memory (which never shrinks). */
  engineBytes: number;
}

/** How many threads the engine uses; `auto`: one for each processor, but at most 8. */
export type ThreadsChoice = number | 'auto';

/** Where a store lives. `opfs` needs the engine in a worker; `{ folder }` is for Node only. */
export type StorageChoice = 'indexeddb' | 'opfs' | 'memory' | { readonly folder: string };

/** Where a store really lives. */
export type StorageKind = 'indexeddb' | 'opfs' | 'memory' | 'folder';

export interface OpenOptions extends LongCallOptions {
  /**
   * Default `indexeddb` in a page and `memory` in Node. Where the browser refuses the storage (some private windows) the
   * store is kept in memory, and `db.storage` and `db.warning` say so. `opfs` opens large stores faster; one name in
   * IndexedDB and in OPFS means two stores.
   */
  storage?: StorageChoice;
  /** Refuses every change, and may be opened while another tab writes. */
  readOnly?: boolean;
  /**
   * Opens the store together with other tabs and workers that do so: one of them writes, the others read and write
   * through it, and all see every change at once. When that one is closed or dies, another takes its place. Default
   * false: others get `LOCKED`.
   */
  shared?: boolean;
  /** Asks the browser to keep the site's data for good; `db.persisted` tells the answer. */
  persist?: boolean;
  /**
   * A packed store (see `export`) to start from when this store does not exist yet: an address to fetch, or the
   * bytes themselves.
   */
  from?: string | URL | ArrayBuffer | Uint8Array | Blob;
  /**
   * Where the engine's .wasm file is, when the bundler does not find it by itself. With a function, `variant` is
   * the file wanted, `nearfield-simd.wasm` or one of its three variants; a plain address is used for plain SIMD
   * without threads.
   */
  wasmUrl?: string | URL | ((file: string) => string | URL);
  /**
   * The worker to run in: one of your own made from `nearfield/worker`, its address, or `false` to run in the
   * calling thread (Node, or when you are in a worker already).
   */
  worker?: Worker | string | URL | false;
  /**
   * Threads for builds and batches of searches, 1 to 64, default `auto`. They need a page that is cross-origin
   * isolated and the engine in its worker; elsewhere there is one, and `info()` tells. Answers do not depend on it.
   */
  threads?: ThreadsChoice;
}

/** A set of named collections in one storage. */
export interface Database {
  readonly name: string;
  /** Where the store lives; `memory` when the browser refused the storage that was asked for. */
  readonly storage: StorageKind;
  /** What the user should know about this store, if anything: no storage here, something had to be repaired. */
  readonly warning: string | undefined;
  /** Whether the browser promised not to evict the site's data; false outside pages. */
  readonly persisted: boolean;
  readonly readOnly: boolean;

  /**
   * Opens a collection, and creates it when `dimensions` is given and it does not exist yet.
   * Fails with `NOT_FOUND` (no such collection and no dimensions), `OPTIONS_MISMATCH`, `INVALID_ARGUMENT`.
   */
  collection<Meta = unknown>(name: string, options?: CollectionOptions): Promise<Collection<Meta>>;
  /** The names of all collections. */
  collections(): Promise<string[]>;
  /** Removes a collection and its records. Fails with `NOT_FOUND`. */
  drop(name: string): Promise<void>;
  /**
   * Makes everything up to now durable. Calls that overlap share their writes. Fails with `QUOTA` or `IO`: the
   * stored data is then that of the last flush, and everything stays usable in memory.
   */
  flush(options?: LongCallOptions): Promise<void>;
  /** The whole store, flushed, as one file: for static hosting (`from`), the native program, or a backup. */
  export(options?: LongCallOptions): Promise<Uint8Array>;
  info(): Promise<DatabaseInfo>;
  /** Flushes, frees the memory and ends the worker. Closing twice is no error. */
  close(): Promise<void>;
  /** Same as close(): `await using db = await open(…)`. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface Collection<Meta = unknown> {
  readonly name: string;
  readonly options: Readonly<Required<Omit<CollectionOptions, 'fields'>>>;

  /**
   * Stores a batch whole or, when it fails, not at all; a record whose id exists is replaced, and of equal ids in
   * one batch the last wins. Then links the new rows into the graph when there are enough of them. Resolves to the
   * number of records that are new.
   *
   * Fails with `DIMENSION_MISMATCH`, `NOT_FINITE`, `INVALID_ID`, `INVALID_ARGUMENT` (naming the row), `READ_ONLY`,
   * `OUT_OF_MEMORY`, and with `ABORTED`: before the rows are stored nothing has changed; during the linking they
   * are stored and found by scanning, and the next `upsert` or `index` goes on.
   */
  upsert(records: readonly VectorRecord<Meta>[] | VectorBatch<Meta>, options?: LongCallOptions): Promise<number>;
  /**
   * Changes the vector or the metadata of records that are there, all of them or, when it fails, none. Of equal ids in
   * one call, later values win. It takes as long as storing the records again. Resolves to how many were changed.
   *
   * Fails with `NOT_FOUND`, naming an id that no record has, and as `upsert` does.
   */
  update(records: readonly RecordUpdate<Meta>[], options?: LongCallOptions): Promise<number>;
  /** The `k` nearest or best records, best first. Fails with `DIMENSION_MISMATCH`, `NOT_FINITE`, `INVALID_ARGUMENT`. */
  search(query: SearchQuery): Promise<SearchHit<Meta>[]>;
  /** The same, and how it was found. */
  explain(query: SearchQuery): Promise<Explained<Meta>>;
  /** The declared fields. */
  fields(): Promise<Fields>;
  /**
   * Declares fields in place of those before, reading new ones from the metadata of all records; vectors and the
   * other fields stay. Fails with `INVALID_ARGUMENT` when some metadata does not fit, and nothing is changed.
   */
  setFields(fields: Fields): Promise<void>;
  /** Removes all records that match; resolves to how many. An empty filter is refused: that is what clear() is for. */
  deleteWhere(where: Filter): Promise<number>;
  /** How many records (of those that match `where`) have each value of a tag or keyword field: the `top` (10) most frequent. */
  facets(field: string, options?: { where?: Filter; top?: number }): Promise<FacetCount[]>;
  /** Many searches in one call: one list per query. */
  searchMany(query: SearchManyQuery): Promise<SearchHit<Meta>[][]>;
  /** The record of this id, or undefined. */
  get(id: Id): Promise<StoredRecord<Meta> | undefined>;
  /** The records of these ids in the order asked; undefined where there is none. */
  get(ids: readonly Id[]): Promise<(StoredRecord<Meta> | undefined)[]>;
  /**
   * Removes records; ids that are not there are passed over. Then takes them out of the graph when there are enough
   * for that to pay. Resolves to how many were removed.
   */
  delete(ids: Id | readonly Id[]): Promise<number>;
  /** Removes every record. */
  clear(): Promise<void>;
  /** How many records there are, or how many match. */
  count(where?: Filter): Promise<number>;
  stats(): Promise<CollectionStats>;
  /** Links every row that is not in the graph yet. Fails with `ABORTED`; the next call goes on. */
  index(options?: LongCallOptions): Promise<void>;
  /**
   * Gives back the room of all records that were replaced or deleted, which happens by itself once they are half as
   * many as the others; nothing is built anew. The next flush writes the collection whole. Fails with `ABORTED`; the
   * next call goes on.
   */
  compact(options?: LongCallOptions): Promise<void>;
}
