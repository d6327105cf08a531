// The synchronous engine: everything but the storage of a page answers at once, in the calling thread.
import {
  checkFields,
  checkOpen,
  checkText,
  completeOptions,
  packBatch,
  packIds,
  packSearch,
  packSearchMany,
  packUpdate,
} from '../arguments.js';
import { decodeHits, decodeRanking, decodeRecords, type FullOptions } from '../engine/answers.js';
import { Engine, unpack, type LinkProgress } from '../engine/engine.js';
import { openCollection } from '../engine/open-collection.js';
import { packedCopy } from '../engine/packed.js';
import { writeOut } from '../engine/write-out.js';
import type { SessionHost } from '../engine/session.js';
import { NearfieldError, invalid, noFilter, toNearfieldError } from '../errors.js';
import type { LoadedModule } from '../module/load.js';
import type { OpenCall } from '../protocol.js';
import { filterText, isEmptyFilter, packFacets, packFields, unpackFields } from '../records.js';
import type { Backend } from '../storage/backend.js';
import { MemoryBackend } from '../storage/memory.js';
import type {
  CollectionOptions,
  CollectionStats,
  DatabaseInfo,
  Explained,
  FacetCount,
  Fields,
  Filter,
  Id,
  OpenOptions,
  RecordUpdate,
  SearchHit,
  SearchManyQuery,
  SearchQuery,
  StorageChoice,
  StorageKind,
  StoredRecord,
  VectorBatch,
  VectorRecord,
} from '../types.js';
import type { WasmAddresses } from '../module/fetch.js';

export interface SyncOpenOptions extends Pick<OpenOptions, 'readOnly'> {
  /** Default `memory`. */
  storage?: StorageChoice;
  /** The bytes of a packed store to start from when this store does not exist yet. */
  from?: ArrayBuffer | Uint8Array;
}

const openFields = ['storage', 'readOnly', 'from'];

/** What the engine takes for so many milliseconds: at least one, and 0 for as long as it takes. */
function microseconds(milliseconds: unknown): number {
  if (typeof milliseconds !== 'number') throw invalid(`milliseconds must be a number, not ${typeof milliseconds}`);
  if (milliseconds === Infinity) return 0;
  return milliseconds > 0 ? Math.ceil(milliseconds * 1000) : 1;
}

function checkLink(options: { link?: boolean }): boolean {
  checkFields(options, ['link'], 'options');
  const { link = true } = options;
  if (typeof link !== 'boolean') throw invalid(`link must be true or false, not ${typeof link}`);
  return link;
}

const packedName = 'packed';

async function lockFor(host: SessionHost, call: OpenCall): Promise<() => void> {
  try {
    return await host.lock(call);
  } catch (error) {
    throw toNearfieldError(error);
  }
}

/** A store whose calls answer at once; see `Database` for what they do and how they fail. */
export class SyncDatabase {
  private closed = false;

  private constructor(
    readonly name: string,
    readonly readOnly: boolean,
    private readonly loaded: LoadedModule,
    private readonly engine: Engine,
    private readonly backend: Backend,
    private readonly unlock: () => void,
  ) {}

  /** @internal */
  static async open(
    host: SessionHost,
    wasm: WasmAddresses | undefined,
    name: string,
    options: SyncOpenOptions,
  ): Promise<SyncDatabase> {
    checkOpen(name, options, openFields);
    const { storage = 'memory', readOnly = false } = options;
    const call: OpenCall = { name, storage, readOnly, threads: 1, ...(wasm === undefined ? {} : { wasm }) };
    const packed = options.from === undefined ? undefined : new Uint8Array(packedCopy(options.from));
    const unlock = await lockFor(host, call);
    try {
      const loading = host.loadModule(call);
      loading.catch(() => {}); // awaited below, perhaps too late for the platform's taste
      const { backend } = await host.openStorage(loading, call);
      const loaded = await loading;
      try {
        if (packed !== undefined && backend.listFiles().length === 0) {
          await backend.prepare();
          unpack(loaded.module, new MemoryBackend(loaded.module.heap, { [packedName]: packed }), packedName, backend);
          if (!readOnly) await backend.commit();
        }
        const engine = new Engine(loaded.module, backend, { readOnly });
        backend.release();
        return new SyncDatabase(name, readOnly, loaded, engine, backend, unlock);
      } catch (error) {
        await backend.close();
        throw error;
      }
    } catch (error) {
      unlock();
      throw toNearfieldError(error);
    }
  }

  get storage(): StorageKind {
    return this.backend.kind;
  }

  collection<Meta = unknown>(name: string, given: CollectionOptions = {}): SyncCollection<Meta> {
    checkText(name, 'the name of a collection');
    const call = { name, options: completeOptions(given), given };
    const { collection, options } = openCollection(this.engine, call);
    return new SyncCollection<Meta>(this.engine, name, collection, options);
  }

  collections(): string[] {
    return this.engine.names();
  }

  drop(name: string): void {
    this.engine.drop(checkText(name, 'the name of a collection'));
  }

  info(): DatabaseInfo {
    return {
      ...this.engine.info(),
      variant: this.loaded.variant,
      threads: this.loaded.threads.count,
      version: this.engine.version(),
      engineBytes: this.engine.memoryBytes(),
    };
  }

  /** Makes everything up to now durable; in memory and in a folder it is so when the call returns. */
  async flush(): Promise<void> {
    if (this.closed) throw new NearfieldError('CLOSED', 'the store is closed');
    if (this.readOnly || this.backend.kind === 'memory') return;
    await this.write();
  }

  /** The whole store, flushed, as one file. */
  async export(): Promise<Uint8Array> {
    if (!this.readOnly) await this.write();
    await this.backend.restore();
    const destination = new MemoryBackend(() => this.loaded.module.HEAPU8);
    this.engine.pack(destination, packedName);
    this.backend.release();
    return destination.take(packedName);
  }

  /** Flushes and frees the memory. */
  async close(): Promise<void> {
    if (this.closed) return;
    try {
      await this.flush();
    } finally {
      this.closed = true;
      try {
        this.engine.close();
        await this.backend.close();
      } finally {
        this.unlock();
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async write(): Promise<void> {
    try {
      await writeOut(this.engine, this.backend);
    } catch (error) {
      throw toNearfieldError(error);
    }
  }
}

/** A collection whose calls answer at once; see `Collection` for what they do and how they fail. */
export class SyncCollection<Meta = unknown> {
  /** @internal */
  constructor(
    private readonly engine: Engine,
    readonly name: string,
    private readonly collection: number,
    readonly options: FullOptions,
  ) {}

  /** Stores a batch whole or not at all, and links it unless `link` is false. Returns how many records are new. */
  upsert(records: readonly VectorRecord<Meta>[] | VectorBatch<Meta>, options: { link?: boolean } = {}): number {
    const link = checkLink(options);
    const { added, wantsLink } = this.engine.upsert(this.collection, packBatch(records, this.options.dimensions));
    if (wantsLink && link) this.index();
    return added;
  }

  /** Changes records that are there, all or none, and links them unless `link` is false. Returns how many. */
  update(records: readonly RecordUpdate<Meta>[], options: { link?: boolean } = {}): number {
    const link = checkLink(options);
    const update = packUpdate(records, this.options.dimensions);
    const { wantsLink } = this.engine.update(this.collection, update);
    if (wantsLink && link) this.index();
    return update.count;
  }

  search(query: SearchQuery): SearchHit<Meta>[] {
    return this.explain(query).hits;
  }

  explain(query: SearchQuery): Explained<Meta> {
    const search = packSearch(query, this.options.dimensions);
    const { bytes, matches } = this.engine.rank(this.collection, search);
    return decodeRanking<Meta>(bytes, this.options, search, matches);
  }

  fields(): Fields {
    return unpackFields(this.engine.fields(this.collection));
  }

  setFields(fields: Fields): void {
    this.engine.setFields(this.collection, packFields(fields));
  }

  /** Removes what matches; takes it out of the graph unless `link` is false, when there is enough for that to pay. */
  deleteWhere(where: Filter, options: { link?: boolean } = {}): number {
    const link = checkLink(options);
    if (isEmptyFilter(where)) throw noFilter();
    const { removed, wantsLink } = this.engine.removeWhere(this.collection, filterText(where));
    if (wantsLink && link) this.index();
    return removed;
  }

  facets(field: string, options: { where?: Filter; top?: number } = {}): FacetCount[] {
    return this.engine.facets(this.collection, packFacets(field, options));
  }

  searchMany(query: SearchManyQuery): SearchHit<Meta>[][] {
    const packed = packSearchMany(query, this.options.dimensions);
    const bytes = this.engine.search(this.collection, packed);
    return decodeHits<Meta>(bytes, packed.queries, this.options, packed.included);
  }

  get(id: Id): StoredRecord<Meta> | undefined;
  get(ids: readonly Id[]): (StoredRecord<Meta> | undefined)[];
  get(ids: Id | readonly Id[]): StoredRecord<Meta> | undefined | (StoredRecord<Meta> | undefined)[] {
    const packed = packIds(ids);
    const records = decodeRecords<Meta>(this.engine.get(this.collection, packed), packed.count, this.options);
    return Array.isArray(ids) ? records : records[0];
  }

  /** Removes records; takes them out of the graph unless `link` is false, when there are enough for that to pay. */
  delete(ids: Id | readonly Id[], options: { link?: boolean } = {}): number {
    const link = checkLink(options);
    const { removed, wantsLink } = this.engine.remove(this.collection, packIds(ids));
    if (wantsLink && link) this.index();
    return removed;
  }

  clear(): void {
    this.engine.clear(this.collection);
  }

  count(where?: Filter): number {
    if (where === undefined) return this.stats().count;
    return this.engine.select(this.collection, filterText(where));
  }

  stats(): CollectionStats {
    return this.engine.stats(this.collection);
  }

  /** Links rows for about `milliseconds`, or all of them; call again until `done` equals `total`. */
  index(milliseconds = Infinity): LinkProgress {
    return this.engine.link(this.collection, microseconds(milliseconds));
  }

  /** The same, and gives back the room of all records that were replaced or deleted. */
  compact(milliseconds = Infinity): LinkProgress {
    return this.engine.compact(this.collection, microseconds(milliseconds));
  }
}
