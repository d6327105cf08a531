// Checks what callers hand in and brings it into the shapes that cross to the engine. Everything that is refused
// is refused here or in the core, before anything changes, with a sentence that says what was expected.
import { allocating, encodeIds, encodeMetadata } from './engine/boundary.js';
import { metrics, rowTypes, type FullOptions, type Included } from './engine/answers.js';
import { NearfieldError, invalid } from './errors.js';
import { filterText, packFields, packFusion, packOrder, packText, type PackedFusion, type PackedOrder, type PackedText } from './records.js';
import type {
  CollectionOptions,
  Id,
  LongCallOptions,
  OpenOptions,
  RecordUpdate,
  SearchManyQuery,
  SearchQuery,
  Vector,
  VectorBatch,
  VectorRecord,
} from './types.js';

const mostThreads = 64;
const largestCount = 0x7fffffff;

/** Fails with `INVALID_ARGUMENT` when `value` is no object or has a field that is not in `known`. */
export function checkFields(value: unknown, known: readonly string[], what: string): void {
  if (typeof value !== 'object' || value === null) {
    throw invalid(`${what} must be an object with ${known.join(', ')}, not ${value === null ? 'null' : typeof value}`);
  }
  for (const [key, field] of Object.entries(value)) {
    if (known.includes(key) || field === undefined) continue;
    throw invalid(`${what}: unknown option "${key}"; known are ${known.join(', ')}`);
  }
}

export function checkText(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw invalid(`${what} must be a non-empty string`);
  if (!value.isWellFormed()) throw invalid(`${what} has unpaired surrogates`);
  return value;
}

export function checkInteger(value: unknown, from: number, to: number, what: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < from || value > to) {
    const shown = typeof value === 'number' ? String(value) : typeof value;
    throw invalid(`${what} is ${shown}; expected an integer from ${from} to ${to}`);
  }
  return value;
}

function checkShare(value: unknown, what: string): number {
  if (typeof value !== 'number' || !(value > 0 && value < 1)) {
    const shown = typeof value === 'number' ? String(value) : typeof value;
    throw invalid(`${what} is ${shown}; expected a number above 0 and below 1 (an exact search finds all)`);
  }
  return value;
}

function checkBoolean(value: unknown, what: string): boolean {
  if (typeof value !== 'boolean') throw invalid(`${what} must be true or false, not ${typeof value}`);
  return value;
}

export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return typeof value;
}

function checkOneOf<T extends string>(value: unknown, known: readonly T[], what: string): T {
  const found = known.find((one) => one === value);
  if (found === undefined) {
    throw invalid(`${what} is ${show(value)}; expected ${known.map((one) => `"${one}"`).join(' or ')}`);
  }
  return found;
}

export function checkLongCall(options: LongCallOptions): void {
  checkFields(options, ['onProgress', 'signal'], 'options');
  checkCallback(options.onProgress);
  checkSignal(options.signal);
}

export function checkSignal(signal: unknown): void {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalid('signal must be an AbortSignal');
}

function checkCallback(callback: unknown): void {
  if (callback !== undefined && typeof callback !== 'function') throw invalid('onProgress must be a function');
}

const openFields = ['storage', 'readOnly', 'shared', 'persist', 'from', 'wasmUrl', 'worker', 'threads', 'onProgress', 'signal'];

const isAddress = (value: unknown): boolean => typeof value === 'string' || value instanceof URL;

function checkPlaces({ wasmUrl, worker }: OpenOptions): void {
  if (wasmUrl !== undefined && typeof wasmUrl !== 'function' && !isAddress(wasmUrl)) {
    throw invalid(`wasmUrl is ${show(wasmUrl)}; expected an address, or a function from a file's name to one`);
  }
  if (worker === undefined || worker === false || isAddress(worker)) return;
  if (typeof worker !== 'object' || worker === null) {
    throw invalid(`worker is ${show(worker)}; expected a worker, its address, or false`);
  }
}

function checkThreads(value: unknown): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= mostThreads) return;
  throw invalid(`threads is ${show(value)}; expected an integer from 1 to ${mostThreads}, or "auto"`);
}

/** Checks what open() was given; `fields` are the options that it knows. */
export function checkOpen(name: unknown, options: OpenOptions, fields: readonly string[] = openFields): void {
  checkText(name, 'the name of a store');
  checkFields(options, fields, 'open');
  checkPlaces(options);
  checkCallback(options.onProgress);
  checkSignal(options.signal);
  if (options.threads !== undefined && options.threads !== 'auto') checkThreads(options.threads);
  if (options.readOnly !== undefined) checkBoolean(options.readOnly, 'readOnly');
  if (options.shared !== undefined) checkBoolean(options.shared, 'shared');
  if (options.shared && options.readOnly) throw invalid('a store is opened shared or readOnly, not both');
  if (options.persist !== undefined) checkBoolean(options.persist, 'persist');
  const { storage } = options;
  if (storage === undefined) return;
  if (typeof storage === 'object' && storage !== null) {
    checkFields(storage, ['folder'], 'storage');
    if (checkText(storage.folder, 'storage.folder').includes('\0')) throw invalid('storage.folder contains a NUL character');
  } else {
    checkOneOf(storage, ['indexeddb', 'opfs', 'memory'], 'storage');
  }
}

const collectionFields = ['dimensions', 'metric', 'storage', 'm', 'efConstruction', 'seed'];

/** Options with the defaults filled in; undefined when `dimensions` is left out, which opens what is there. */
export function completeOptions(options: CollectionOptions): FullOptions | undefined {
  checkFields(options, [...collectionFields, 'fields'], 'collection options');
  if (options.fields !== undefined) packFields(options.fields);
  const { dimensions, metric = 'cosine', storage = 'f32', m = 16, seed = 1 } = options;
  const { efConstruction = Math.max(200, typeof m === 'number' ? m : 0) } = options;
  checkOneOf(metric, metrics, 'metric');
  checkOneOf(storage, rowTypes, 'storage');
  checkInteger(m, 2, 64, 'm');
  checkInteger(efConstruction, m, 4096, 'efConstruction');
  checkInteger(seed, 0, Number.MAX_SAFE_INTEGER, 'seed');
  if (dimensions === undefined) return undefined;
  checkInteger(dimensions, 1, 16384, 'dimensions');
  return { dimensions, metric, storage, m, efConstruction, seed };
}

/** Options that are given for a collection must be those it has. */
export function checkSameOptions(name: string, given: CollectionOptions, stored: FullOptions): void {
  for (const key of collectionFields as (keyof FullOptions)[]) {
    if (given[key] !== undefined && given[key] !== stored[key]) {
      throw new NearfieldError(
        'OPTIONS_MISMATCH',
        `collection "${name}" has ${key} ${stored[key]}, but was opened with ${String(given[key])}`,
      );
    }
  }
}

const isTyped = (value: unknown): value is Float32Array | Float64Array =>
  value instanceof Float32Array || value instanceof Float64Array;

function checkVector(value: unknown, dimensions: number, what: string): Vector {
  if (!isTyped(value) && !Array.isArray(value)) {
    throw invalid(`${what} must be a Float32Array or an array of numbers, not ${value === null ? 'null' : typeof value}`);
  }
  if (isTyped(value)) checkAttached(value, what);
  if (value.length !== dimensions) {
    throw new NearfieldError(
      'DIMENSION_MISMATCH',
      `${what} has ${value.length} dimensions; the collection has ${dimensions}`,
    );
  }
  return value as Vector;
}

/** A transferred array has length 0, but is no empty one. */
function checkAttached(value: Float32Array | Float64Array, what: string): void {
  try {
    value.values();
  } catch {
    throw invalid(`${what} is a detached array: its memory was transferred elsewhere`);
  }
}

const newFloats = (count: number): Float32Array<ArrayBuffer> =>
  allocating(count * 4, 'vectors', () => new Float32Array(count));

/** Copies one vector; what is no number becomes NaN, which the engine refuses. */
function copyVector(to: Float32Array, at: number, from: Vector): void {
  if (isTyped(from)) {
    to.set(from, at);
    return;
  }
  for (let i = 0; i < from.length; ++i) {
    const value: unknown = from[i];
    to[at + i] = typeof value === 'number' ? value : NaN;
  }
}

/** Vectors as one array, row after row; always a copy. */
function flatten(vectors: unknown, rows: number | undefined, dimensions: number, what: string): Float32Array<ArrayBuffer> {
  if (vectors instanceof Float32Array) {
    checkAttached(vectors, 'vectors');
    if (vectors.length % dimensions !== 0 || (rows !== undefined && vectors.length !== rows * dimensions)) {
      const wanted = rows === undefined ? `a multiple of ${dimensions}` : `${rows} × ${dimensions}`;
      throw new NearfieldError('DIMENSION_MISMATCH', `vectors has ${vectors.length} values; expected ${wanted}`);
    }
    const copy = newFloats(vectors.length);
    copy.set(vectors);
    return copy;
  }
  if (!Array.isArray(vectors)) throw invalid('vectors must be a Float32Array or an array of vectors');
  if (rows !== undefined && vectors.length !== rows) {
    throw invalid(`vectors has ${vectors.length} rows, but there are ${rows} ids`);
  }
  const flat = newFloats(vectors.length * dimensions);
  for (let row = 0; row < vectors.length; ++row) { // not forEach: it passes over holes
    copyVector(flat, row * dimensions, checkVector(vectors[row], dimensions, `${what} ${row}`));
  }
  return flat;
}

/** A batch in the form that crosses: every buffer is a copy of its own. */
export interface PackedBatch {
  rows: number;
  vectors: Float32Array<ArrayBuffer>;
  ids: Uint8Array<ArrayBuffer>;
  /** Empty when no row has metadata. */
  metadata: Uint8Array<ArrayBuffer>;
}

function packRecords(records: readonly VectorRecord[], dimensions: number): PackedBatch {
  const rows = records.length;
  const vectors = newFloats(rows * dimensions);
  const ids = new Array<Id>(rows);
  const metadata = new Array<unknown>(rows);
  for (let row = 0; row < rows; ++row) {
    const record = records[row] as VectorRecord;
    checkFields(record, ['id', 'vector', 'metadata'], `record ${row}`);
    copyVector(vectors, row * dimensions, checkVector(record.vector, dimensions, `the vector of record ${row}`));
    ids[row] = record.id;
    metadata[row] = record.metadata;
  }
  return { rows, vectors, ids: encodeIds(ids), metadata: encodeMetadata(metadata) };
}

function packArrays(batch: VectorBatch, dimensions: number): PackedBatch {
  checkFields(batch, ['ids', 'vectors', 'metadata'], 'batch');
  const { ids, vectors, metadata } = batch;
  if (!Array.isArray(ids) && (!ArrayBuffer.isView(ids) || ids instanceof DataView)) {
    throw invalid('ids must be an array, one id per row');
  }
  const rows = ids.length;
  if (metadata !== undefined && (!Array.isArray(metadata) || metadata.length !== rows)) {
    throw invalid(`metadata must be an array of ${rows} values, one per id`);
  }
  return {
    rows,
    vectors: flatten(vectors, rows, dimensions, 'vector'),
    ids: encodeIds(ids),
    metadata: encodeMetadata(metadata ?? []),
  };
}

export function packBatch(batch: readonly VectorRecord[] | VectorBatch, dimensions: number): PackedBatch {
  if (typeof batch !== 'object' || batch === null) {
    throw invalid('upsert takes an array of records, or an object with ids and vectors');
  }
  return Array.isArray(batch) ? packRecords(batch, dimensions) : packArrays(batch as VectorBatch, dimensions);
}

/** Changes of records: every buffer is a copy of its own. */
export interface PackedUpdate {
  count: number;
  ids: Uint8Array<ArrayBuffer>;
  /** A 1 for every id that has a new vector. */
  hasVector: Uint8Array<ArrayBuffer>;
  /** Those vectors, one after the other. */
  vectors: Float32Array<ArrayBuffer>;
  /** New metadata, an empty text for none; empty when there is none at all. */
  metadata: Uint8Array<ArrayBuffer>;
}

export function packUpdate(records: readonly RecordUpdate[], dimensions: number): PackedUpdate {
  if (!Array.isArray(records)) throw invalid('update takes an array of records');
  const changes = new Map<Id, { vector?: Vector; metadata?: unknown }>();
  for (let row = 0; row < records.length; ++row) { // not forEach: it passes over holes
    const record = records[row] as RecordUpdate;
    checkFields(record, ['id', 'vector', 'metadata'], `record ${row}`);
    const change = changes.get(record.id) ?? {};
    if (record.vector !== undefined) {
      change.vector = checkVector(record.vector, dimensions, `the vector of record ${row}`);
    }
    if (record.metadata !== undefined) change.metadata = record.metadata;
    changes.set(record.id, change);
  }
  const all = [...changes.values()];
  const given = all.flatMap(({ vector }) => (vector === undefined ? [] : [vector]));
  const vectors = newFloats(given.length * dimensions);
  given.forEach((vector, i) => copyVector(vectors, i * dimensions, vector));
  return {
    count: all.length,
    ids: encodeIds([...changes.keys()]),
    hasVector: Uint8Array.from(all, ({ vector }) => Number(vector !== undefined)),
    vectors,
    metadata: encodeMetadata(all.map(({ metadata }) => metadata)),
  };
}

export interface PackedSearch {
  queries: number;
  vectors: Float32Array<ArrayBuffer>;
  k: number;
  recall: number;
  /** 0: not given, `recall` counts. */
  ef: number;
  exact: boolean;
  included: Included;
  /** A filter's JSON. */
  where: string | undefined;
}

/** A search that is not by vectors alone, or a page of one that is. */
export interface PackedRank extends PackedSearch, PackedFusion {
  text: PackedText | undefined;
  order: PackedOrder;
  offset: number;
}

const searchFields = ['k', 'recall', 'ef', 'exact', 'where', 'include', 'signal'];

function packSearchOptions(query: Omit<SearchQuery, 'vector'>): Omit<PackedSearch, 'queries' | 'vectors'> {
  const { k = 10, recall, ef, exact = false, include = [] } = query;
  checkSignal(query.signal);
  if ([recall !== undefined, ef !== undefined, exact === true].filter(Boolean).length > 1) {
    throw invalid('a search takes one of recall, ef and exact');
  }
  if (!Array.isArray(include)) throw invalid('include must be an array of "metadata", "vector" and "highlights"');
  for (const one of include) checkOneOf(one, ['metadata', 'vector', 'highlights'], 'include');
  return {
    k: checkInteger(k, 1, largestCount, 'k'),
    recall: recall === undefined ? 0.98 : checkShare(recall, 'recall'),
    ef: ef === undefined ? 0 : checkInteger(ef, 1, largestCount, 'ef'),
    exact: checkBoolean(exact, 'exact'),
    included: {
      metadata: include.includes('metadata'),
      vector: include.includes('vector'),
      highlights: include.includes('highlights'),
    },
    where: query.where === undefined ? undefined : filterText(query.where),
  };
}

const queryFields = ['vector', 'text', 'fuse', 'offset', 'orderBy', ...searchFields];

export function packSearch(query: SearchQuery, dimensions: number): PackedRank {
  checkFields(query, queryFields, 'search');
  const { vector, text, fuse, offset = 0, orderBy } = query;
  const by = vector !== undefined || text !== undefined;
  if (!by && query.where === undefined && orderBy === undefined) {
    throw invalid('a search needs a vector, a text, or where');
  }
  if (by && orderBy !== undefined) throw invalid('orderBy is for searches without vector and text');
  if (fuse !== undefined && (vector === undefined || text === undefined)) {
    throw invalid('fuse is for searches by vector and text');
  }
  const vectors = new Float32Array(vector === undefined ? 0 : dimensions);
  if (vector !== undefined) copyVector(vectors, 0, checkVector(vector, dimensions, 'the query vector'));
  return {
    queries: vector === undefined ? 0 : 1,
    vectors,
    text: text === undefined ? undefined : packText(text),
    order: packOrder(orderBy),
    offset: checkInteger(offset, 0, largestCount, 'offset'),
    ...packFusion(fuse),
    ...packSearchOptions(query),
  };
}

export function packSearchMany(query: SearchManyQuery, dimensions: number): PackedSearch {
  checkFields(query, ['vectors', ...searchFields], 'searchMany');
  if (query.include?.includes('highlights')) throw invalid('searchMany: highlights are for searches by text');
  const vectors = flatten(query.vectors, undefined, dimensions, 'query');
  return { queries: vectors.length / dimensions, vectors, ...packSearchOptions(query) };
}

export interface PackedIds {
  count: number;
  ids: Uint8Array<ArrayBuffer>;
}

export function packIds(ids: Id | readonly Id[]): PackedIds {
  const list = Array.isArray(ids) ? (ids as readonly Id[]) : [ids as Id];
  return { count: list.length, ids: encodeIds(list) };
}
