// Session: one open store: the engine, its storage, and the order of what happens to them.
//
// Calls take effect in the order in which they arrive. Only two things take longer than a call of the engine:
// linking, which runs in slices between other calls, and the storage, which one flush or export uses at a time.
import { NearfieldError, aborted } from '../errors.js';
import type { LoadedModule } from '../module/load.js';
import { isChange, type CallName, type Calls, type CollectionCall, type CollectionOpened, type OpenCall, type Opened } from '../protocol.js';
import type { Backend } from '../storage/backend.js';
import { MemoryBackend } from '../storage/memory.js';
import { Engine, unpack } from './engine.js';
import { Linker, type CallContext } from './linker.js';
import { openCollection } from './open-collection.js';
import { nextTask } from './tasks.js';
import { writeOut } from './write-out.js';

/** A tab's place among those that share a store. */
export interface Membership {
  /** Resolves when it is this tab's turn to write. */
  readonly turn: Promise<void>;
  /** Gives the place up, and the turn to another tab. */
  end(): void;
}

/** What differs between a page's worker and Node. */
export interface SessionHost {
  loadModule(call: OpenCall): Promise<LoadedModule>;
  /** The storage that was asked for, read; or another one and a warning. Reads while the engine is still loading. */
  openStorage(loading: Promise<LoadedModule>, call: OpenCall): Promise<{ backend: Backend; warning?: string }>;
  /** Keeps other tabs from writing to the store; returns how to let go. Fails with `LOCKED`. */
  lock(call: OpenCall): Promise<() => void>;
  /** Shares a store with other tabs, where there are such. Fails with `LOCKED` while one has it for itself. */
  join?(call: OpenCall): Promise<Membership>;
  /** Whether the browser keeps the data for good. */
  persisted(): Promise<boolean>;
  /** The packed store at an address. */
  fetchPacked(address: string, context: CallContext): Promise<Uint8Array>;
}

type Handlers = {
  [Name in CallName]: (
    args: Calls[Name]['arguments'],
    context: CallContext,
  ) => Calls[Name]['answer'] | Promise<Calls[Name]['answer']>;
};

/** A batch of fewer queries is one piece of work (core/collection/search.cpp). */
const fewestForThreads = 8;

const packedName = 'packed';

interface Open {
  loaded: LoadedModule;
  engine: Engine;
  backend: Backend;
  readOnly: boolean;
  unlock: () => void;
}

export class Session {
  private state: Open | undefined;
  private closing: Promise<void> | undefined;
  private readonly linkers = new Map<number, Linker>();
  private storageQueue: Promise<unknown> = Promise.resolve();
  private nextWrite: Promise<void> | undefined;

  /** How many changes took effect. */
  changes = 0;

  /** `onDurable` is told how many of them are stored, after each flush that stored some. */
  constructor(
    private readonly host: SessionHost,
    private readonly onDurable: (changes: number) => void = () => {},
  ) {}

  /** Makes one call. Fails with a NearfieldError, or with whatever the platform threw. */
  async call<Name extends CallName>(
    name: Name,
    args: Calls[Name]['arguments'],
    context: CallContext,
  ): Promise<Calls[Name]['answer']> {
    if (context.aborted) throw aborted('stopped before it began; nothing was changed');
    if (isChange(name)) this.changes += 1; // whatever comes of it: it happens now, before anything is awaited
    return this.handlers[name](args, context);
  }

  /** The call of this name, at once. */
  collection(call: CollectionCall): CollectionOpened {
    return openCollection(this.opened().engine, call);
  }

  private readonly handlers: Handlers = {
    open: (call, context) => this.open(call, context),
    collection: (call) => this.collection(call),
    collections: () => this.opened().engine.names(),
    drop: ({ name }) => this.opened().engine.drop(name),
    upsert: async ({ collection, batch }, context) => {
      const { engine } = this.opened();
      context.progress({ phase: 'storing', done: 0, total: batch.rows });
      const { added, wantsLink } = engine.upsert(collection, batch);
      context.progress({ phase: 'storing', done: batch.rows, total: batch.rows });
      if (wantsLink) await this.linker(collection).finish(context);
      return added;
    },
    update: async ({ collection, update }, context) => {
      const { wantsLink } = this.opened().engine.update(collection, update);
      if (wantsLink) await this.linker(collection).finish(context);
      return update.count;
    },
    index: ({ collection }, context) => this.linker(collection).finish(context),
    compact: ({ collection }, context) => {
      this.opened().engine.compact(collection, 1); // begins; linking goes on with it
      return this.linker(collection).finish(context);
    },
    delete: async ({ collection, ids }, context) => {
      const { removed, wantsLink } = this.opened().engine.remove(collection, ids);
      if (wantsLink) await this.linker(collection).finish(context);
      return removed;
    },
    clear: ({ collection }) => this.opened().engine.clear(collection),
    get: ({ collection, ids }) => this.opened().engine.get(collection, ids),
    search: ({ collection, search }) => {
      const { engine, loaded } = this.opened();
      if (search.queries > fewestForThreads) loaded.threads.start();
      return engine.search(collection, search);
    },
    rank: ({ collection, search }) => this.opened().engine.rank(collection, search),
    fields: ({ collection }) => this.opened().engine.fields(collection),
    setFields: ({ collection, fields }) => this.opened().engine.setFields(collection, fields),
    countWhere: ({ collection, where }) => this.opened().engine.select(collection, where),
    deleteWhere: async ({ collection, where }, context) => {
      const { removed, wantsLink } = this.opened().engine.removeWhere(collection, where);
      if (wantsLink) await this.linker(collection).finish(context);
      return removed;
    },
    facets: ({ collection, facets }) => this.opened().engine.facets(collection, facets),
    stats: ({ collection }) => this.opened().engine.stats(collection),
    flush: (_, context) => this.flush(context),
    export: (_, context) => this.export(context),
    info: () => {
      const { engine, loaded } = this.opened();
      return {
        ...engine.info(),
        variant: loaded.variant,
        threads: loaded.threads.count,
        version: engine.version(),
        engineBytes: engine.memoryBytes(),
      };
    },
    close: () => this.close(),
  };

  private opened(): Open {
    if (!this.state || this.closing) throw new NearfieldError('CLOSED', 'the store is closed');
    return this.state;
  }

  private linker(collection: number): Linker {
    const { engine, loaded } = this.opened();
    loaded.threads.start();
    let linker = this.linkers.get(collection);
    if (!linker) this.linkers.set(collection, (linker = new Linker(engine, collection)));
    return linker;
  }

  private async open(call: OpenCall, context: CallContext): Promise<Opened> {
    const unlock = await this.host.lock(call);
    try {
      context.progress({ phase: 'loading-engine', done: 0, total: 1 });
      const loading = this.host.loadModule(call);
      loading.catch(() => {}); // awaited below, perhaps too late for the platform's taste
      const { backend, warning } = await this.host.openStorage(loading, call);
      const loaded = await loading;
      context.progress({ phase: 'reading', done: 0, total: 1 });
      try {
        await this.fill(loaded, backend, call, context);
        if (context.aborted) throw aborted('stopped while opening');
        const engine = new Engine(loaded.module, backend, { readOnly: call.readOnly });
        backend.release();
        context.progress({ phase: 'reading', done: 1, total: 1 });
        this.state = { loaded, engine, backend, readOnly: call.readOnly, unlock };
        const persisted = await this.host.persisted();
        const warnings = [...(warning === undefined ? [] : [warning]), ...engine.info().warnings];
        return { storage: backend.kind, persisted, ...(warnings.length === 0 ? {} : { warning: warnings.join('; ') }) };
      } catch (error) {
        await backend.close();
        throw error;
      }
    } catch (error) {
      unlock();
      throw error;
    }
  }

  /** Starts an empty storage from a packed store. */
  private async fill(
    { module }: LoadedModule,
    backend: Backend,
    { from, readOnly }: OpenCall,
    context: CallContext,
  ): Promise<void> {
    if (from === undefined || backend.listFiles().length > 0) return;
    const bytes = await this.packedBytes(from, context);
    const source = new MemoryBackend(module.heap, { [packedName]: bytes });
    await backend.prepare();
    unpack(module, source, packedName, backend);
    if (!readOnly) await backend.commit();
  }

  private async packedBytes(from: NonNullable<OpenCall['from']>, context: CallContext): Promise<Uint8Array> {
    if (typeof from === 'string') return this.host.fetchPacked(from, context);
    return new Uint8Array(from instanceof Blob ? await from.arrayBuffer() : from);
  }

  /** Flushes that overlap share their writes: one is under way, one more takes everything that came since. */
  private flush(context: CallContext): Promise<void> {
    const { backend, readOnly } = this.opened();
    // Memory needs no writing: the engine has everything. An export makes the files.
    if (readOnly || backend.kind === 'memory') return Promise.resolve();
    this.nextWrite ??= this.useStorage(async () => {
      await nextTask(); // flushes that were asked for already join
      this.nextWrite = undefined;
      await this.write(context);
    });
    return this.nextWrite;
  }

  private useStorage<T>(action: () => Promise<T>): Promise<T> {
    const result = this.storageQueue.then(action);
    this.storageQueue = result.catch(() => {});
    return result;
  }

  private async write(context: CallContext): Promise<void> {
    const { engine, backend } = this.state as Open;
    context.progress({ phase: 'writing', done: 0, total: 1 });
    let flushed = 0;
    await writeOut(engine, backend, () => (flushed = this.changes));
    this.onDurable(flushed);
    context.progress({ phase: 'writing', done: 1, total: 1 });
  }

  private export(context: CallContext): Promise<Uint8Array<ArrayBuffer>> {
    const { engine, backend, loaded, readOnly } = this.opened();
    return this.useStorage(async () => {
      if (!readOnly) await this.write(context);
      await backend.restore();
      try {
        const destination = new MemoryBackend(loaded.module.heap);
        engine.pack(destination, packedName);
        return destination.take(packedName) as Uint8Array<ArrayBuffer>;
      } finally {
        backend.release();
      }
    });
  }

  private close(): Promise<void> {
    if (this.closing) return this.closing;
    if (!this.state) return Promise.resolve();
    const { engine, backend, loaded, unlock } = this.state;
    const written = this.flush({ aborted: false, progress: () => {} });
    const stopped = new NearfieldError('CLOSED', 'the store was closed while linking; the rows are stored');
    for (const linker of this.linkers.values()) linker.stop(stopped);
    this.closing = written.finally(async () => {
      await this.storageQueue;
      try {
        engine.close();
        await loaded.threads.end();
        await backend.close();
      } finally {
        unlock();
      }
    });
    return this.closing;
  }
}
