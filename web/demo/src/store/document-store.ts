// The documents in a Nearfield store. Everything that the documents view asks of the engine goes
// through here.

import {
  type Collection,
  type Database,
  type Explained,
  type FacetCount,
  type Filter,
  type SearchHit,
  type SearchQuery,
  type StorageKind,
  open,
} from 'nearfield';
import { type DocumentData, type Documents, dimensions } from '../documents/data.ts';

const collectionName = 'documents';

/** A question in a sentence should not find every document that has “the”. */
const prose = { type: 'text', stopWords: false } as const;

export type Hit = SearchHit<DocumentData>;

/** An answer, and the time from the call in the page to it: two messages and the search between them. */
export interface Answered extends Explained<DocumentData> {
  readonly tripMs: number;
}

export interface DocumentFacts {
  readonly count: number;
  readonly storedBytes: number;
  /** Since the store was opened. */
  readonly distances: number;
}

export class DocumentStore {
  private constructor(
    private readonly database: Database,
    private collection: Collection<DocumentData> | undefined,
  ) {}

  static async open(
    name: string,
    options: { storage: 'indexeddb' | 'memory'; readOnly?: boolean },
  ): Promise<DocumentStore> {
    const database = await open(name, options);
    const exists = (await database.collections()).includes(collectionName);
    return new DocumentStore(database, exists ? await database.collection<DocumentData>(collectionName) : undefined);
  }

  get storage(): StorageKind {
    return this.database.storage;
  }

  get warning(): string | undefined {
    return this.database.warning;
  }

  async count(where?: Filter): Promise<number> {
    return (await this.collection?.count(where)) ?? 0;
  }

  /** Stores the documents, whole or not at all, and makes that durable. */
  async fill(documents: Documents): Promise<void> {
    this.collection ??= await this.database.collection<DocumentData>(collectionName, {
      dimensions,
      metric: 'cosine',
      fields: { title: prose, body: prose, category: 'tag', tags: 'tag', words: 'number' },
    });
    await this.collection.upsert(documents);
    await this.database.flush();
  }

  async explain(query: SearchQuery): Promise<Answered> {
    const begin = performance.now();
    const explained = await this.filled.explain({ ...query, include: ['metadata', 'highlights'] });
    return { ...explained, tripMs: performance.now() - begin };
  }

  facets(field: 'category' | 'tags', where: Filter | undefined, top: number): Promise<FacetCount[]> {
    return this.filled.facets(field, { top, ...(where ? { where } : {}) });
  }

  async get(id: string): Promise<{ title: string; vector: Float32Array } | undefined> {
    const record = await this.filled.get(id);
    return record && { title: record.metadata?.title ?? id, vector: record.vector };
  }

  async facts(): Promise<DocumentFacts> {
    const info = await this.database.info();
    const stats = await this.collection?.stats();
    return {
      count: stats?.count ?? 0,
      storedBytes: info.bytes,
      distances: stats?.distanceComputations ?? 0,
    };
  }

  async close(): Promise<void> {
    await this.database.close();
  }

  private get filled(): Collection<DocumentData> {
    if (!this.collection) throw new Error('the store is empty');
    return this.collection;
  }
}
