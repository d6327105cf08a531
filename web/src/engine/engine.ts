// Engine: one open database. Copies arguments into the engine's memory, makes one call, copies the answer out.
import { NearfieldError, errorCodes, type NearfieldErrorCode } from '../errors.js';
import type { PackedBatch, PackedIds, PackedRank, PackedSearch, PackedUpdate } from '../arguments.js';
import type { PackedFacets, PackedField } from '../records.js';
import type { CollectionStats, FacetCount } from '../types.js';
import { encodeFields, encodeText } from './boundary.js';
import {
  decodeFacets,
  decodeFields,
  decodeInfo,
  decodeNames,
  decodeOptions,
  decodeStats,
  includeBits,
  metrics,
  rowTypes,
  type FullOptions,
  type StoredInfo,
} from './answers.js';
import { mergeUpdate } from './update.js';
import type { EngineModule, NativeEngine, Reply, StorageCalls } from './module.js';

const everything = '{}'; // as a filter

/** The staging areas, in the order of wasm/bindings.cpp. */
enum Staging {
  vectors,
  ids,
  texts,
}

function codeOf(reply: Reply): NearfieldErrorCode {
  return errorCodes[reply.code] ?? 'IO';
}

function checked(reply: Reply): Reply {
  if (reply.code >= 0) throw new NearfieldError(codeOf(reply), reply.detail);
  return reply;
}

export interface LinkProgress {
  done: number;
  total: number;
}

export interface Stored {
  added: number;
  /** Whether so many rows are not in the graph that linking them pays. */
  wantsLink: boolean;
}

export interface Removed {
  removed: number;
  /** Whether so many rows are not in the graph any more that linking them pays. */
  wantsLink: boolean;
}

export interface Ranked {
  bytes: Uint8Array<ArrayBuffer>;
  matches: number | undefined;
}

export interface OpenEngineOptions {
  readOnly: boolean;
}

/** Writes a packed store into an empty storage. */
export function unpack(module: EngineModule, source: StorageCalls, file: string, destination: StorageCalls): void {
  checked(module.unpack(source, file, destination));
}

export class Engine {
  private readonly native: NativeEngine;
  private stopped: NearfieldError | undefined;
  /** What the native side has selected, while nothing changes. */
  private selected: { collection: number; where: string; matches: number } | undefined;

  /** Opens what the storage holds, or an empty database. */
  constructor(
    private readonly module: EngineModule,
    storage: StorageCalls,
    { readOnly }: OpenEngineOptions,
  ) {
    this.native = new module.Engine();
    try {
      this.run(() => this.native.open(storage, true, readOnly, ''));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  collection(name: string, options: FullOptions): number {
    const { dimensions, metric, storage, m, efConstruction, seed } = options;
    const metricNumber = metrics.indexOf(metric);
    const rowType = rowTypes.indexOf(storage);
    return this.run(() =>
      this.native.collection(name, dimensions, metricNumber, rowType, m, efConstruction, seed),
    ).value;
  }

  find(name: string): number {
    return this.run(() => this.native.find(name)).value;
  }

  names(): string[] {
    return decodeNames(this.answer(() => this.native.names()));
  }

  drop(name: string): void {
    this.change(() => this.native.drop(name));
  }

  upsert(collection: number, { rows, vectors, ids, metadata }: PackedBatch): Stored {
    if (rows === 0) return { added: 0, wantsLink: false };
    this.stage(Staging.vectors, new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength));
    this.stage(Staging.ids, ids);
    if (metadata.length > 0) this.stage(Staging.texts, metadata);
    const { value, total } = this.change(() => this.native.upsert(collection, rows, metadata.length > 0));
    return { added: value, wantsLink: total > 0 };
  }

  /** Changes records that are there; returns what upsert does, of which none is new. */
  update(collection: number, update: PackedUpdate): Stored {
    const { dimensions } = this.options(collection);
    return this.upsert(collection, mergeUpdate(update, this.get(collection, update), dimensions));
  }

  /** Links about so many microseconds long. */
  link(collection: number, budgetMicroseconds: number): LinkProgress {
    const { value, total } = this.change(() => this.native.link(collection, budgetMicroseconds));
    return { done: value, total };
  }

  /** As link(), and from now on until nothing dead is left. */
  compact(collection: number, budgetMicroseconds: number): LinkProgress {
    const { value, total } = this.change(() => this.native.compact(collection, budgetMicroseconds));
    return { done: value, total };
  }

  remove(collection: number, { count, ids }: PackedIds): Removed {
    if (count === 0) return { removed: 0, wantsLink: false };
    this.stage(Staging.ids, ids);
    const { value, total } = this.change(() => this.native.remove(collection, count));
    return { removed: value, wantsLink: total > 0 };
  }

  clear(collection: number): void {
    this.change(() => this.native.clear(collection));
  }

  /** Packed records, for decodeRecords. */
  get(collection: number, { count, ids }: PackedIds): Uint8Array<ArrayBuffer> {
    if (count === 0) return new Uint8Array(0);
    this.stage(Staging.ids, ids);
    return this.answer(() => this.native.get(collection, count));
  }

  /** Packed hits, for decodeHits. */
  search(collection: number, search: PackedSearch): Uint8Array<ArrayBuffer> {
    const { queries, vectors, k, recall, ef, exact, included, where } = search;
    if (queries === 0) return new Uint8Array(0);
    if (where !== undefined) this.select(collection, where);
    this.stage(Staging.vectors, new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength));
    const include = includeBits({ ...included, highlights: false });
    return this.answer(() =>
      this.native.search(collection, queries, k, recall, ef, exact, include, where !== undefined),
    );
  }

  /** A packed ranking, for decodeRanking, and how many rows the filter matched. */
  rank(collection: number, search: PackedRank): Ranked {
    const { vectors, text, order, k, offset, recall, ef, exact, included, where } = search;
    const { fusion, vectorWeight, textWeight } = search;
    const include = includeBits(included);
    const byVector = vectors.length > 0;
    const orders = !byVector && !text;
    const matches = where !== undefined || orders ? this.select(collection, where ?? everything) : undefined;
    if (orders) {
      const { field, descending } = order;
      const bytes = this.answer(() => this.native.order(collection, field, descending, k, offset, include));
      return { bytes, matches };
    }
    if (byVector) this.stage(Staging.vectors, new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength));
    if (text) this.stage(Staging.texts, encodeText(text));
    const bytes = this.answer(() =>
      this.native.rank(
        collection, byVector, text !== undefined, matches !== undefined, k, offset, recall, ef, exact, include, fusion,
        vectorWeight, textWeight, text?.all ?? false,
      ),
    );
    return { bytes, matches };
  }

  fields(collection: number): PackedField[] {
    return decodeFields(this.answer(() => this.native.fields(collection)));
  }

  setFields(collection: number, fields: readonly PackedField[]): void {
    this.stage(Staging.texts, encodeFields(fields));
    this.change(() => this.native.setFields(collection));
  }

  /**
   * Evaluates a filter for the next call, unless it is what was selected last: searches while somebody types mostly have
   * the same. How many rows match.
   */
  select(collection: number, where: string): number {
    if (this.selected?.collection === collection && this.selected.where === where) return this.selected.matches;
    this.selected = undefined;
    this.stage(Staging.texts, new TextEncoder().encode(where));
    const matches = this.run(() => this.native.select(collection)).value;
    this.selected = { collection, where, matches };
    return matches;
  }

  removeWhere(collection: number, where: string): Removed {
    this.select(collection, where);
    const { value, total } = this.change(() => this.native.removeSelected(collection));
    return { removed: value, wantsLink: total > 0 };
  }

  facets(collection: number, { field, where, top }: PackedFacets): FacetCount[] {
    this.select(collection, where ?? everything);
    return decodeFacets(this.answer(() => this.native.facets(collection, field, top)));
  }

  options(collection: number): FullOptions {
    return decodeOptions(this.answer(() => this.native.options(collection)));
  }

  stats(collection: number): CollectionStats {
    return decodeStats(this.answer(() => this.native.stats(collection)));
  }

  flush(): void {
    this.run(() => this.native.flush());
  }

  info(): StoredInfo {
    return decodeInfo(this.answer(() => this.native.info()));
  }

  /** Writes the flushed state into one file. */
  pack(destination: StorageCalls, name: string): void {
    this.run(() => this.native.pack(destination, name));
  }

  memoryBytes(): number {
    return this.module.memoryBytes();
  }

  version(): string {
    return this.module.version();
  }

  close(): void {
    if (this.stopped) return;
    this.stopped = new NearfieldError('CLOSED', 'the store is closed');
    this.native.delete();
  }

  private stage(which: Staging, bytes: Uint8Array): void {
    if (this.stopped) throw this.stopped;
    const address = this.native.stage(which, bytes.length);
    if (address === 0) {
      throw new NearfieldError('OUT_OF_MEMORY', `no memory for ${bytes.length} bytes; nothing was changed`);
    }
    this.module.heap().set(bytes, address);
  }

  /** For calls that change which slots match a filter. */
  private change(call: () => Reply): Reply {
    this.selected = undefined;
    return this.run(call);
  }

  private run(call: () => Reply): Reply {
    if (this.stopped) throw this.stopped;
    let reply: Reply;
    try {
      reply = call();
    } catch (trap) {
      // Only exhausted memory or a bug stops the engine; what was flushed is safe in the storage.
      const detail = trap instanceof Error ? trap.message : String(trap);
      this.stopped = new NearfieldError('OUT_OF_MEMORY', `the engine stopped: ${detail}; open the store again`, {
        cause: trap,
      });
      throw this.stopped;
    }
    return checked(reply);
  }

  private answer(call: () => Reply): Uint8Array<ArrayBuffer> {
    const { data, size } = this.run(call);
    const copy = new Uint8Array(size);
    copy.set(this.module.heap().subarray(data, data + size));
    return copy;
  }
}
