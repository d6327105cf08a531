// OpfsPool: a store's folder in the origin private file system (OPFS), and the open handles of its files.
//
// The engine makes files within synchronous calls, but a handle can only be opened asynchronously. So the files on
// disk have meaningless names, some are open before they are needed, and the first 64 bytes of each say which file of
// the store it is. Those bytes are written when the file is finished: a file without them is a spare one, and so is
// what a killed tab was writing. Which files count, the store's manifests say.
//
// A file that is removed is cut to no bytes and is a spare one again. Of two files with one name, which only a power
// failure can leave, the later is taken; a file whose header is damaged is left alone.
import { NearfieldError, toNearfieldError } from '../errors.js';

/** A FileSystemSyncAccessHandle; TypeScript knows it in workers only. */
export interface AccessHandle {
  read(to: Uint8Array, options: { at: number }): number;
  write(from: Uint8Array, options: { at: number }): number;
  getSize(): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

export interface PooledFile {
  /** The name on disk. */
  readonly entry: string;
  readonly handle: AccessHandle;
}

export const headerBytes = 64;
const magic = 0x4f46_464e; // NFFO
const nameAt = 16;
const checksumAt = headerBytes - 4;

// A tab that was just left may still hold its handles for a moment.
const waitMilliseconds = 1500;
const retryMilliseconds = 20;

/** FNV-1a: against halves of headers, not against malice. */
function checksum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

function encodeHeader(name: string, stamp: number): Uint8Array {
  const bytes = new Uint8Array(headerBytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, magic, true);
  view.setFloat64(8, stamp, true);
  const { read } = new TextEncoder().encodeInto(name, bytes.subarray(nameAt, checksumAt));
  if (read < name.length) throw new NearfieldError('IO', `the name ${name} is too long for a file`);
  view.setUint32(checksumAt, checksum(bytes.subarray(0, checksumAt)), true);
  return bytes;
}

export interface Header {
  name: string;
  stamp: number;
}

/** What the first bytes of a file say: its header, nothing when none was written yet, or something that is none. */
export function decodeHeader(bytes: Uint8Array): Header | 'none' | 'damaged' {
  if (bytes.length < headerBytes || bytes.every((byte) => byte === 0)) return 'none';
  const view = new DataView(bytes.buffer, bytes.byteOffset, headerBytes);
  if (view.getUint32(0, true) !== magic) return 'damaged';
  if (view.getUint32(checksumAt, true) !== checksum(bytes.subarray(0, checksumAt))) return 'damaged';
  const name = new TextDecoder().decode(bytes.subarray(nameAt, checksumAt));
  return { name: name.replace(/\0+$/, ''), stamp: view.getFloat64(8, true) };
}

function readHeader(handle: AccessHandle): Header | 'none' | 'damaged' {
  const bytes = new Uint8Array(headerBytes);
  return decodeHeader(bytes.subarray(0, handle.read(bytes, { at: 0 })));
}

interface SyncFileHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<AccessHandle>;
}

async function openHandle(file: FileSystemFileHandle): Promise<AccessHandle> {
  for (const end = Date.now() + waitMilliseconds; ; ) {
    try {
      return await (file as SyncFileHandle).createSyncAccessHandle();
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== 'NoModificationAllowedError') throw error;
      if (Date.now() >= end) {
        throw new NearfieldError('LOCKED', 'the store is open for writing already, in another tab or a worker', { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
    }
  }
}

/** Whether there are synchronous handles here: in workers of browsers that have them. */
export const offersOpfs = (): boolean =>
  typeof FileSystemFileHandle !== 'undefined' && 'createSyncAccessHandle' in FileSystemFileHandle.prototype;

/** A store's folder; undefined when it is not there and not to be made. */
export async function folderOf(store: string, create: boolean): Promise<FileSystemDirectoryHandle | undefined> {
  const root = await navigator.storage.getDirectory();
  try {
    const stores = await root.getDirectoryHandle('nearfield', { create });
    return await stores.getDirectoryHandle(`store-${encodeURIComponent(store)}`, { create });
  } catch (error) {
    if (!create && error instanceof DOMException && error.name === 'NotFoundError') return undefined;
    throw error;
  }
}

export class OpfsPool {
  private readonly used = new Map<string, PooledFile>();
  private readonly spare: PooledFile[] = [];
  private newest = 0;
  private lastEntry = 0;
  private failure: Error | undefined;

  private constructor(private readonly folder: FileSystemDirectoryHandle) {}

  /** Opens every file of the store. Fails with `LOCKED` while another tab or worker has them open. */
  static async open(folder: FileSystemDirectoryHandle): Promise<OpfsPool> {
    const pool = new OpfsPool(folder);
    const stored: FileSystemFileHandle[] = [];
    for await (const file of folder.values()) if (file.kind === 'file') stored.push(file as FileSystemFileHandle);
    pool.lastEntry = Math.max(0, ...stored.map(({ name }) => Number(name) || 0));
    const opening = stored.map(async (file) => ({ entry: file.name, handle: await openHandle(file) }));
    const opened = await Promise.allSettled(opening);
    const files = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    try {
      await Promise.all(opening); // throws what failed
      pool.adopt(files);
    } catch (error) {
      for (const { handle } of files) handle.close();
      throw error;
    }
    return pool;
  }

  names(): string[] {
    return [...this.used.keys()];
  }

  find(name: string): PooledFile | undefined {
    return this.used.get(name);
  }

  /** A file without a name, empty. */
  take(): PooledFile {
    const file = this.spare.pop();
    if (!file) throw this.failure ?? new NearfieldError('IO', 'no file is open that could be written');
    return file;
  }

  /** Gives a file that take() gave and that is whole its name. */
  name(file: PooledFile, name: string): void {
    this.newest = Math.max(Date.now(), this.newest + 1);
    writeAll(file.handle, encodeHeader(name, this.newest), 0);
    this.used.set(name, file);
  }

  remove(name: string): void {
    const file = this.used.get(name);
    if (!file) return;
    this.giveBack(file);
    this.used.delete(name);
  }

  giveBack(file: PooledFile): void {
    file.handle.truncate(0);
    this.spare.push(file);
  }

  /** Sees to it that so many files can be taken, and no more are open. What prevents it, take() tells. */
  async keep(count: number): Promise<void> {
    const surplus = this.spare.splice(count);
    const opening = Array.from({ length: count - this.spare.length }, () => this.create());
    this.failure = undefined;
    for (const opened of await Promise.allSettled(opening)) {
      if (opened.status === 'fulfilled') this.spare.push(opened.value);
      else this.failure = toNearfieldError(opened.reason);
    }
    for (const { entry, handle } of surplus) {
      handle.close();
      await this.folder.removeEntry(entry).catch(() => {}); // an empty file more does no harm
    }
  }

  close(): void {
    for (const { handle } of [...this.used.values(), ...this.spare]) handle.close();
    this.used.clear();
    this.spare.length = 0;
  }

  private async create(): Promise<PooledFile> {
    const entry = String(++this.lastEntry);
    return { entry, handle: await openHandle(await this.folder.getFileHandle(entry, { create: true })) };
  }

  private adopt(files: readonly PooledFile[]): void {
    const stamps = new Map<string, number>();
    for (const file of files) {
      const header = readHeader(file.handle);
      if (header === 'damaged') {
        file.handle.close(); // it stays as it is
      } else if (header === 'none' || (stamps.get(header.name) ?? -1) >= header.stamp) {
        this.giveBack(file);
      } else {
        this.remove(header.name);
        this.used.set(header.name, file);
        stamps.set(header.name, header.stamp);
        this.newest = Math.max(this.newest, header.stamp);
      }
    }
  }
}

/** A browser may write less than it was given; in private windows Chromium returns an error's number as if it had more. */
export function writeAll(handle: AccessHandle, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    const count = handle.write(bytes.subarray(done), { at: at + done });
    if (count === 0 || count > bytes.length - done) {
      throw new NearfieldError('QUOTA', `the storage is full: it took ${done} of ${bytes.length} bytes`);
    }
    done += count;
  }
}
