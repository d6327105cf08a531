// IndexedDB through Emscripten's IDBFS: a memory file system that syncfs() reads from and writes to a database.
//
// What IDBFS does and does not do, and what follows for us:
// - One syncfs(false) writes everything new and removes everything gone in one transaction. That is what makes a
//   flush atomic here, and why the engine's own sync() has nothing to do.
// - A request that fails does not abort that transaction (its handler prevents the default), so the rest would be
//   committed without the part that failed. We abort it.
// - It decides by modification times alone. Every file we write gets a time later than any seen before, so that a
//   file that replaces another of its name is never taken for the old one.
// - Its syncfs(true) could begin only when the engine's code is there. idbfs-files.ts reads the same entries while
//   the code is still being compiled.
// - It makes its second transaction within an event, where nobody hears that the connection is closed by now. We do.
// - It keeps every file's contents in memory. Once the engine has read a file, or IndexedDB has it, we drop the
//   contents and leave the node with its time, which is all that later syncs look at. Such a file is never stored:
//   when it is missing in the database, someone cleared that.
import { NearfieldError } from '../errors.js';
import type { EngineModule, FileNode, FileSystem, Idbfs, IdbfsEntry } from '../engine/module.js';
import { answer, connect, objectsOf, type StoredFiles } from './idbfs-files.js';
import { roomLeft } from './room.js';
import { Backend, CollectingSink, copyPart, missing, type Sink } from './backend.js';

/** `isReleased`: whether a file's contents are in the database only. */
function abortOnFailure(idbfs: Idbfs, isReleased: (path: string) => boolean): void {
  idbfs.storeRemoteEntry = (store, path, entry, done) => {
    const fail = (error: unknown): void => {
      done(error);
      try {
        store.transaction.abort();
      } catch {
        // aborted already
      }
    };
    if (isReleased(path)) {
      fail(new NearfieldError('IO', 'stored files are gone: the data of the site was cleared, perhaps; open the store again'));
      return;
    }
    try {
      const request = store.put(entry, path);
      request.onsuccess = () => done();
      request.onerror = () => fail(request.error);
    } catch (error) {
      fail(error);
    }
  };
}

function failAloud(idbfs: Idbfs): void {
  const { reconcile } = idbfs;
  idbfs.reconcile = (from, to, done) => {
    try {
      reconcile(from, to, done);
    } catch (error) {
      done(error);
    }
  };
}

/** Browsers close connections of pages in the background, and when the user has the site's data cleared. */
const isClosed = (error: unknown): boolean =>
  error instanceof DOMException && (error.name === 'InvalidStateError' || error.name === 'AbortError');

export class IndexedDbBackend extends Backend {
  readonly kind = 'indexeddb';
  /** A value is copied whole, so that files must not be too large; but Chromium reads few large values faster. */
  override readonly preferredFileBytes: number = 16 << 20;
  private readonly fs: FileSystem;
  private readonly folder: string;
  private readonly released = new Set<string>();
  private newest = 0;

  /** Takes over the files that were read, and their connection. */
  constructor(module: EngineModule, { folder, connection, entries }: StoredFiles) {
    super(module.heap);
    this.fs = module.FS;
    this.folder = folder;
    abortOnFailure(this.idbfs, (path) => this.released.has(path.slice(this.folder.length + 1)));
    failAloud(this.idbfs);
    this.fs.mkdirTree(this.folder);
    this.fs.mount(this.idbfs, {}, this.folder);
    this.use(connection);
    for (const [path, entry] of entries) this.adopt(path, entry);
  }

  override async prepare(): Promise<void> {
    this.room = await roomLeft();
  }

  override async commit(): Promise<void> {
    try {
      await this.store();
    } catch (error) {
      if (!isClosed(error)) throw error;
      await this.reconnect();
      await this.store();
    }
  }

  override release(): void {
    for (const name of this.listFiles()) {
      this.node(name).contents = null;
      this.released.add(name);
    }
  }

  override async restore(): Promise<void> {
    const names = [...this.released];
    if (names.length === 0) return;
    try {
      await this.restoreFiles(names);
    } catch (error) {
      if (!isClosed(error)) throw error;
      await this.reconnect();
      await this.restoreFiles(names);
    }
  }

  override async close(): Promise<void> {
    await super.close();
    this.disconnect();
  }

  override listFiles(): string[] {
    return this.fs.readdir(this.folder).filter((name) => name !== '.' && name !== '..');
  }

  protected override sizeOf(name: string): number {
    return this.node(name).usedBytes;
  }

  protected override readInto(name: string, offset: number, to: Uint8Array): void {
    const { contents, usedBytes } = this.node(name);
    if (this.released.has(name)) throw new NearfieldError('IO', `the file ${name} is not in memory`);
    copyPart(name, contents?.subarray(0, usedBytes) ?? new Uint8Array(0), offset, to);
  }

  protected override createFile(name: string): Sink {
    return new CollectingSink((contents) => {
      const path = this.path(name);
      this.fs.writeFile(path, contents, { canOwn: true });
      this.newest = Math.max(Date.now(), this.newest + 1);
      this.fs.utime(path, this.newest, this.newest);
      this.released.delete(name);
    });
  }

  protected override removeFile(name: string): void {
    if (this.fs.analyzePath(this.path(name)).exists) this.fs.unlink(this.path(name));
    this.released.delete(name);
  }

  private get idbfs(): Idbfs {
    return this.fs.filesystems.IDBFS;
  }

  private path(name: string): string {
    return `${this.folder}/${name}`;
  }

  private node(name: string): FileNode {
    if (!this.fs.analyzePath(this.path(name)).exists) throw missing(name);
    return this.fs.lookupPath(this.path(name)).node;
  }

  /** What syncfs(true) does with an entry. */
  private adopt(path: string, { contents, timestamp }: IdbfsEntry): void {
    if (!contents) return;
    this.fs.writeFile(path, contents, { canOwn: true });
    this.fs.utime(path, timestamp.getTime(), timestamp.getTime());
    this.newest = Math.max(this.newest, timestamp.getTime());
  }

  private get connection(): IDBDatabase {
    return this.idbfs.dbs[this.folder] as IDBDatabase;
  }

  /** IDBFS makes its transactions by this connection: ones that are on disk when they are complete. */
  private use(connection: IDBDatabase): void {
    const begin = connection.transaction.bind(connection);
    connection.transaction = (names, mode) => begin(names, mode, { durability: 'strict' });
    this.idbfs.dbs[this.folder] = connection;
  }

  private store(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.fs.syncfs(false, (error) => (error ? reject(error) : resolve()));
    });
  }

  private async restoreFiles(names: readonly string[]): Promise<void> {
    const objects = objectsOf(this.connection);
    const restore = async (name: string): Promise<void> => {
      const entry = await answer(objects.get(this.path(name)) as IDBRequest<IdbfsEntry | undefined>);
      if (!entry?.contents) return;
      this.node(name).contents = entry.contents;
      this.released.delete(name);
    };
    await Promise.all(names.map(restore));
  }

  private async reconnect(): Promise<void> {
    this.disconnect();
    this.use(await connect(this.folder));
  }

  private disconnect(): void {
    this.idbfs.dbs[this.folder]?.close();
    delete this.idbfs.dbs[this.folder];
  }
}
