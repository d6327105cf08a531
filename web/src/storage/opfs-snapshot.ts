// OPFS for reading only: the store as it was when it was opened, while another tab may go on writing to it. What that
// tab removes cannot be read here any more, which matters to nothing but exports.
import { NearfieldError } from '../errors.js';
import type { StorageKind } from '../types.js';
import { type Heap } from './backend.js';
import { MemoryBackend } from './memory.js';
import { decodeHeader, headerBytes } from './opfs-pool.js';

/** Of workers; TypeScript knows it there only. */
declare const FileReaderSync: new () => { readAsArrayBuffer(blob: Blob): ArrayBuffer };

/** The files of a store's folder by their names in the store; none where there is no folder. */
export async function snapshotOf(folder: FileSystemDirectoryHandle | undefined): Promise<Map<string, Blob>> {
  const files = new Map<string, Blob>();
  const stamps = new Map<string, number>();
  if (!folder) return files;
  for await (const handle of folder.values()) {
    if (handle.kind !== 'file') continue;
    const file = await (handle as FileSystemFileHandle).getFile();
    const header = decodeHeader(new Uint8Array(await file.slice(0, headerBytes).arrayBuffer()));
    if (typeof header === 'string' || (stamps.get(header.name) ?? -1) >= header.stamp) continue;
    stamps.set(header.name, header.stamp);
    files.set(header.name, file.slice(headerBytes));
  }
  return files;
}

/** Keeps in memory what the engine itself writes, which is nothing but a packed store to start from. */
export class OpfsSnapshot extends MemoryBackend {
  override readonly kind: StorageKind = 'opfs';

  constructor(
    heap: Heap,
    private readonly stored: ReadonlyMap<string, Blob>,
  ) {
    super(heap);
  }

  override listFiles(): string[] {
    return [...this.stored.keys(), ...super.listFiles()];
  }

  protected override sizeOf(name: string): number {
    return this.stored.get(name)?.size ?? super.sizeOf(name);
  }

  protected override readInto(name: string, offset: number, to: Uint8Array): void {
    const file = this.stored.get(name);
    if (!file) {
      super.readInto(name, offset, to);
      return;
    }
    const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(offset, offset + to.length)));
    if (bytes.length < to.length) throw new NearfieldError('CORRUPT', `the file ${name} ends at byte ${offset + bytes.length}`);
    to.set(bytes);
  }
}
