// The objects that callers hold. They check and pack arguments and unpack answers; the session does the work.
import {
  checkLongCall,
  checkSignal,
  checkText,
  completeOptions,
  packBatch,
  packIds,
  packSearch,
  packSearchMany,
  packUpdate,
  type PackedSearch,
} from '../arguments.js';
import { decodeHits, decodeRanking, decodeRecords, type FullOptions } from '../engine/answers.js';
import { noFilter } from '../errors.js';
import type { Opened } from '../protocol.js';
import { filterText, isEmptyFilter, packFacets, packFields, unpackFields } from '../records.js';
import type {
  Collection,
  CollectionOptions,
  CollectionStats,
  Database,
  DatabaseInfo,
  Explained,
  FacetCount,
  Fields,
  Filter,
  Id,
  LongCallOptions,
  RecordUpdate,
  SearchHit,
  SearchManyQuery,
  SearchQuery,
  StorageKind,
  StoredRecord,
  VectorBatch,
  VectorRecord,
} from '../types.js';
import type { Link } from './link.js';

export class ClientDatabase implements Database {
  readonly storage: StorageKind;
  readonly warning: string | undefined;
  readonly persisted: boolean;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly link: Link,
    readonly name: string,
    readonly readOnly: boolean,
    { storage, warning, persisted }: Opened,
  ) {
    this.storage = storage;
    this.warning = warning;
    this.persisted = persisted;
  }

  async collection<Meta = unknown>(name: string, given: CollectionOptions = {}): Promise<Collection<Meta>> {
    checkText(name, 'the name of a collection');
    const options = completeOptions(given);
    const opened = await this.link.call('collection', { name, options, given });
    return new ClientCollection<Meta>(this.link, name, opened.collection, opened.options);
  }

  async collections(): Promise<string[]> {
    return this.link.call('collections', undefined);
  }

  async drop(name: string): Promise<void> {
    checkText(name, 'the name of a collection');
    return this.link.call('drop', { name });
  }

  async flush(options: LongCallOptions = {}): Promise<void> {
    checkLongCall(options);
    return this.link.call('flush', undefined, options);
  }

  async export(options: LongCallOptions = {}): Promise<Uint8Array> {
    checkLongCall(options);
    return this.link.call('export', undefined, options);
  }

  async info(): Promise<DatabaseInfo> {
    return this.link.call('info', undefined);
  }

  close(): Promise<void> {
    this.closing ??= this.link.call('close', undefined).finally(() => this.link.end());
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class ClientCollection<Meta> implements Collection<Meta> {
  constructor(
    private readonly link: Link,
    readonly name: string,
    private readonly collection: number,
    readonly options: FullOptions,
  ) {}

  async upsert(
    records: readonly VectorRecord<Meta>[] | VectorBatch<Meta>,
    options: LongCallOptions = {},
  ): Promise<number> {
    checkLongCall(options);
    const batch = packBatch(records, this.options.dimensions);
    return this.link.call('upsert', { collection: this.collection, batch }, options);
  }

  async update(records: readonly RecordUpdate<Meta>[], options: LongCallOptions = {}): Promise<number> {
    checkLongCall(options);
    const update = packUpdate(records, this.options.dimensions);
    return this.link.call('update', { collection: this.collection, update }, options);
  }

  async search(query: SearchQuery): Promise<SearchHit<Meta>[]> {
    return (await this.explain(query)).hits;
  }

  async explain(query: SearchQuery): Promise<Explained<Meta>> {
    const search = packSearch(query, this.options.dimensions);
    checkSignal(query.signal);
    const { bytes, matches } = await this.link.call(
      'rank',
      { collection: this.collection, search },
      { signal: query.signal },
    );
    return decodeRanking<Meta>(bytes, this.options, search, matches);
  }

  async fields(): Promise<Fields> {
    return unpackFields(await this.link.call('fields', { collection: this.collection }));
  }

  async setFields(fields: Fields): Promise<void> {
    return this.link.call('setFields', { collection: this.collection, fields: packFields(fields) });
  }

  async deleteWhere(where: Filter): Promise<number> {
    if (isEmptyFilter(where)) throw noFilter();
    return this.link.call('deleteWhere', { collection: this.collection, where: filterText(where) });
  }

  async facets(field: string, options: { where?: Filter; top?: number } = {}): Promise<FacetCount[]> {
    return this.link.call('facets', { collection: this.collection, facets: packFacets(field, options) });
  }

  async searchMany(query: SearchManyQuery): Promise<SearchHit<Meta>[][]> {
    return this.run(packSearchMany(query, this.options.dimensions), query.signal);
  }

  get(id: Id): Promise<StoredRecord<Meta> | undefined>;
  get(ids: readonly Id[]): Promise<(StoredRecord<Meta> | undefined)[]>;
  async get(
    ids: Id | readonly Id[],
  ): Promise<StoredRecord<Meta> | undefined | (StoredRecord<Meta> | undefined)[]> {
    const packed = packIds(ids);
    const bytes = await this.link.call('get', { collection: this.collection, ids: packed });
    const records = decodeRecords<Meta>(bytes, packed.count, this.options);
    return Array.isArray(ids) ? records : records[0];
  }

  async delete(ids: Id | readonly Id[]): Promise<number> {
    return this.link.call('delete', { collection: this.collection, ids: packIds(ids) });
  }

  async clear(): Promise<void> {
    return this.link.call('clear', { collection: this.collection });
  }

  async count(where?: Filter): Promise<number> {
    if (where === undefined) return (await this.stats()).count;
    return this.link.call('countWhere', { collection: this.collection, where: filterText(where) });
  }

  async stats(): Promise<CollectionStats> {
    return this.link.call('stats', { collection: this.collection });
  }

  async index(options: LongCallOptions = {}): Promise<void> {
    checkLongCall(options);
    return this.link.call('index', { collection: this.collection }, options);
  }

  async compact(options: LongCallOptions = {}): Promise<void> {
    checkLongCall(options);
    return this.link.call('compact', { collection: this.collection }, options);
  }

  private async run(search: PackedSearch, signal: AbortSignal | undefined): Promise<SearchHit<Meta>[][]> {
    checkSignal(signal);
    const { queries, included } = search;
    const bytes = await this.link.call('search', { collection: this.collection, search }, { signal });
    return decodeHits<Meta>(bytes, queries, this.options, included);
  }
}
