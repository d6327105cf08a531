// Files in a Map: stores that need not last, packed stores on their way in and out.
import type { StorageKind } from '../types.js';
import { Backend, CollectingSink, copyPart, missing, type Heap, type Sink } from './backend.js';

export class MemoryBackend extends Backend {
  readonly kind: StorageKind = 'memory';
  private readonly files = new Map<string, Uint8Array>();

  constructor(heap: Heap, files: Record<string, Uint8Array> = {}) {
    super(heap);
    for (const [name, contents] of Object.entries(files)) this.files.set(name, contents);
  }

  /** The contents of a file; it is no longer kept here. */
  take(name: string): Uint8Array {
    const contents = this.contents(name);
    this.files.delete(name);
    return contents;
  }

  override listFiles(): string[] {
    return [...this.files.keys()];
  }

  protected override sizeOf(name: string): number {
    return this.contents(name).length;
  }

  protected override readInto(name: string, offset: number, to: Uint8Array): void {
    copyPart(name, this.contents(name), offset, to);
  }

  protected override createFile(name: string): Sink {
    this.files.delete(name);
    return new CollectingSink((contents) => this.files.set(name, contents));
  }

  protected override removeFile(name: string): void {
    this.files.delete(name);
  }

  private contents(name: string): Uint8Array {
    const contents = this.files.get(name);
    if (!contents) throw missing(name);
    return contents;
  }
}
