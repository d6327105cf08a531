// A folder on disk (Node): the same files as the native program keeps, so that either opens the other's stores.
import {
  accessSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { NearfieldError } from '../errors.js';
import { Backend, missing, type Heap, type Sink } from './backend.js';
import { FolderLock, isPassedOver } from './folder-lock.js';

class FileSink implements Sink {
  private readonly file: number;
  private open = true;

  constructor(private readonly path: string) {
    this.file = openSync(path, 'w');
  }

  append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at);
  }

  finish(): void {
    fsyncSync(this.file);
    this.open = false;
    closeSync(this.file);
  }

  discard(): void {
    if (this.open) {
      this.open = false;
      closeSync(this.file);
    }
    rmSync(this.path, { force: true });
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export class FolderBackend extends Backend {
  readonly kind = 'folder';
  override readonly preferredFileBytes = 2 ** 53; // one file takes a whole flush, as natively

  constructor(
    heap: Heap,
    private readonly folder: string,
    private readonly readOnly: boolean,
  ) {
    super(heap);
    try {
      accessSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  override listFiles(): string[] {
    if (!existsSync(this.folder)) return [];
    return readdirSync(this.folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !isPassedOver(entry.name))
      .map(({ name }) => name);
  }

  protected override sizeOf(name: string): number {
    const stat = statSync(join(this.folder, name), { throwIfNoEntry: false });
    if (!stat) throw missing(name);
    return stat.size;
  }

  protected override readInto(name: string, offset: number, to: Uint8Array): void {
    const file = openSync(join(this.folder, name), 'r');
    try {
      for (let at = 0; at < to.length; ) {
        const count = readSync(file, to, at, to.length - at, offset + at);
        if (count === 0) throw new NearfieldError('CORRUPT', `the file ${name} ends at byte ${offset + at}`);
        at += count;
      }
    } finally {
      closeSync(file);
    }
  }

  protected override createFile(name: string): Sink {
    if (this.readOnly) mkdirSync(this.folder, { recursive: true });
    else FolderLock.check(this.folder);
    return new FileSink(join(this.folder, name));
  }

  protected override removeFile(name: string): void {
    if (!this.readOnly) FolderLock.check(this.folder);
    rmSync(join(this.folder, name), { force: true });
  }

  protected override syncFiles(): void {
    if (!this.readOnly) FolderLock.check(this.folder);
    if (existsSync(this.folder)) syncFolder(this.folder);
  }
}
