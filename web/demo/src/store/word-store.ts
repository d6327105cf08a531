// The words in a Nearfield store. Everything that the page asks of the engine goes through here.

import { type Collection, type Database, type Progress, type StorageKind, open } from 'nearfield';
import { dimensions } from '../words/vectors.ts';

const collectionName = 'words';

export interface Neighbour {
  readonly word: string;
  readonly score: number;
}

export interface Answer {
  readonly neighbours: readonly Neighbour[];
  /** From the call in the page to its answer: two messages and the search between them. */
  readonly tripMs: number;
  readonly distances: number;
}

export interface StoreFacts {
  readonly count: number;
  readonly linked: number;
  readonly memoryBytes: number;
  readonly engineBytes: number;
  readonly storedBytes: number;
  readonly bytesByKind: Readonly<Record<string, number>>;
  readonly variant: string;
  readonly kernels: string;
}

export interface OpenChoices {
  readonly storage: 'indexeddb' | 'memory';
  readonly readOnly?: boolean;
  /** The address of a packed store to start from. */
  readonly from?: string;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

export class WordStore {
  private collection: Collection | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private counted = 0;
  private rankIds = false;

  private constructor(
    private readonly database: Database,
    /** The word of a row number, for stores whose ids are row numbers. */
    private readonly wordAt: (rank: number) => string | undefined,
    private readonly rankOf: (word: string) => number | undefined,
  ) {}

  static async open(
    name: string,
    choices: OpenChoices,
    wordAt: (rank: number) => string | undefined,
    rankOf: (word: string) => number | undefined,
  ): Promise<WordStore> {
    const database = await open(name, choices);
    const store = new WordStore(database, wordAt, rankOf);
    // A store packed by the native program names its collection itself.
    const [existing] = await database.collections();
    if (existing !== undefined) store.collection = await database.collection(existing);
    return store;
  }

  get storage(): StorageKind {
    return this.database.storage;
  }

  get warning(): string | undefined {
    return this.database.warning;
  }

  get readOnly(): boolean {
    return this.database.readOnly;
  }

  async count(): Promise<number> {
    return (await this.collection?.count()) ?? 0;
  }

  /** Distances computed since the store was opened, for linking and for searches. */
  async distances(): Promise<number> {
    return (await this.collection?.stats())?.distanceComputations ?? 0;
  }

  /** Distances computed for linking since the store was opened. */
  async buildDistances(): Promise<number> {
    return (await this.collection?.stats())?.buildDistances ?? 0;
  }

  /** Finds out whether ids are the words or their row numbers; call once the store has rows. */
  async learnIds(): Promise<void> {
    if (!this.collection) return;
    const firstWord = this.wordAt(0);
    const byWord = firstWord === undefined ? undefined : await this.collection.get(firstWord);
    this.rankIds = byWord === undefined && (await this.collection.get(0)) !== undefined;
  }

  async add(
    words: readonly string[],
    vectors: Float32Array,
    options: { signal: AbortSignal; onProgress: (progress: Progress) => void },
  ): Promise<void> {
    this.collection ??= await this.database.collection(collectionName, {
      dimensions,
      metric: 'cosine',
    });
    const start = this.collection;
    const first = await start.count();
    const ids = this.rankIds ? words.map((_, index) => first + index) : words;
    await start.upsert({ ids, vectors }, options);
  }

  /** Links what an interrupted build left unlinked. */
  async link(options: { signal: AbortSignal; onProgress: (progress: Progress) => void }): Promise<void> {
    await this.collection?.index(options);
  }

  async flush(onProgress?: (progress: Progress) => void): Promise<void> {
    await this.database.flush(onProgress ? { onProgress } : {});
  }

  /** The vectors of these words; undefined where the store lacks one. */
  async vectors(words: readonly string[]): Promise<(Float32Array | undefined)[]> {
    if (!this.collection) return words.map(() => undefined);
    const ids = words.map((word) => (this.rankIds ? (this.rankOf(word) ?? -1) : word));
    return (await this.collection.get(ids)).map((record) => record?.vector);
  }

  /** The nearest words; counted and timed alone, never together with another search. */
  nearest(vector: Float32Array, k: number, ef: number, exact = false): Promise<Answer> {
    return this.inTurn(async (collection) => {
      const start = performance.now();
      const hits = await collection.search({ vector, k, ...(exact ? { exact } : { ef }) });
      const tripMs = performance.now() - start;
      const distances = await this.countedSince(collection);
      return { neighbours: hits.map((hit) => this.neighbour(hit.id, hit.score)), tripMs, distances };
    });
  }

  /** Many searches in one call, so that the messages' share of the time is small. */
  nearestMany(
    vectors: Float32Array,
    k: number,
    ef: number,
    exact = false,
  ): Promise<{ words: string[][]; ms: number; distances: number }> {
    return this.inTurn(async (collection) => {
      const start = performance.now();
      const lists = await collection.searchMany({ vectors, k, ...(exact ? { exact } : { ef }) });
      const ms = performance.now() - start;
      const distances = await this.countedSince(collection);
      return { words: lists.map((hits) => hits.map((hit) => this.word(hit.id))), ms, distances };
    });
  }

  async facts(): Promise<StoreFacts> {
    const info = await this.database.info();
    const stats = await this.collection?.stats();
    return {
      count: stats?.count ?? 0,
      linked: stats?.linked ?? 0,
      memoryBytes: stats?.memoryBytes ?? 0,
      engineBytes: info.engineBytes,
      storedBytes: info.bytes,
      bytesByKind: info.bytesByKind,
      variant: info.variant,
      kernels: info.kernels,
    };
  }

  /** Removes every word, here and in storage. */
  async erase(): Promise<void> {
    if (!this.collection) return;
    await this.database.drop(this.collection.name);
    this.collection = undefined;
    this.rankIds = false;
    await this.database.flush();
  }

  async close(): Promise<void> {
    await this.database.close();
  }

  // Distance counts are differences of one running total, so counted searches go one after another.
  private inTurn<T>(work: (collection: Collection) => Promise<T>): Promise<T> {
    const run = this.turn.then(async () => {
      if (!this.collection) throw new Error('the store is empty');
      return work(this.collection);
    });
    this.turn = run.catch(() => undefined);
    return run;
  }

  private async countedSince(collection: Collection): Promise<number> {
    const { distanceComputations, buildDistances } = await collection.stats();
    const searches = distanceComputations - buildDistances;
    const since = searches - this.counted;
    this.counted = searches;
    return since;
  }

  private neighbour(id: unknown, score: number): Neighbour {
    return { word: this.word(id), score };
  }

  private word(id: unknown): string {
    return typeof id === 'number' ? (this.wordAt(id) ?? `row ${id}`) : String(id);
  }
}
