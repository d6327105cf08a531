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
// - It keeps every file's contents in memory. Once the engine has read a file, or IndexedDB has it, we drop the
//   contents and leave the node with its time, which is all that later syncs look at.
import { NearfieldError } from '../errors.js';
import type { EngineModule, FileNode, FileSystem, Idbfs, IdbfsEntry } from '../engine/module.js';
import type { StoredFiles } from './idbfs-files.js';
import { Backend, CollectingSink, copyPart, missing, type Sink } from './backend.js';

function abortOnFailure(idbfs: Idbfs): void {
  idbfs.storeRemoteEntry = (store, path, entry, done) => {
    const fail = (error: unknown): void => {
      done(error);
      try {
        store.transaction.abort();
      } catch {
        // aborted already
      }
    };
    try {
      const request = store.put(entry, path);
      request.onsuccess = () => done();
      request.onerror = () => fail(request.error);
    } catch (error) {
      fail(error);
    }
  };
}

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
    abortOnFailure(this.idbfs);
    this.fs.mkdirTree(this.folder);
    this.fs.mount(this.idbfs, {}, this.folder);
    this.idbfs.dbs[this.folder] = connection;
    for (const [path, entry] of entries) this.adopt(path, entry);
  }

  override async commit(): Promise<void> {
    try {
      await this.store();
    } catch (error) {
      // Browsers close connections of pages in the background; a new one works.
      if (!(error instanceof DOMException) || error.name !== 'InvalidStateError') throw error;
      this.disconnect();
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
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      this.idbfs.getDB(this.folder, (error, found) => (error ? reject(error) : resolve(found)));
    });
    const store = database.transaction(this.idbfs.DB_STORE_NAME, 'readonly').objectStore(this.idbfs.DB_STORE_NAME);
    await Promise.all(names.map((name) => this.restoreFile(store, name)));
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

  private store(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.fs.syncfs(false, (error) => (error ? reject(error) : resolve()));
    });
  }

  private restoreFile(store: IDBObjectStore, name: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = store.get(this.path(name));
      request.onsuccess = () => {
        const entry = request.result as IdbfsEntry | undefined;
        if (entry?.contents) {
          this.node(name).contents = entry.contents;
          this.released.delete(name);
        }
        resolve();
      };
      request.onerror = () => reject(request.error ?? new NearfieldError('IO', `cannot read ${name}`));
    });
  }

  private disconnect(): void {
    this.idbfs.dbs[this.folder]?.close();
    delete this.idbfs.dbs[this.folder];
  }
}
