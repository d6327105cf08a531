// OPFS: files behind synchronous access handles, from which the engine reads straight into its memory.
//
// sync() flushes what was written since the last one, so that the store's own order holds: data, then the manifest.
import { NearfieldError } from '../errors.js';
import { Backend, missing, type Heap, type Sink } from './backend.js';
import { headerBytes, writeAll, type OpfsPool, type PooledFile } from './opfs-pool.js';
import { roomLeft } from './room.js';

/** What one flush may need: data, data that is moved together, and a manifest; the first one two manifests. */
const filesPerFlush = 3;

export class OpfsBackend extends Backend {
  readonly kind = 'opfs';
  override readonly preferredFileBytes = 2 ** 53; // one file takes a whole flush
  private readonly written = new Set<PooledFile>();

  private constructor(
    heap: Heap,
    private readonly pool: OpfsPool,
  ) {
    super(heap);
  }

  /** Takes over the files, ready to be written. */
  static async open(heap: Heap, pool: OpfsPool): Promise<OpfsBackend> {
    await pool.keep(filesPerFlush);
    return new OpfsBackend(heap, pool);
  }

  override async prepare(): Promise<void> {
    this.room = await roomLeft();
  }

  override commit(): Promise<void> {
    return this.pool.keep(filesPerFlush);
  }

  /** After a flush that had no file to write. */
  override restore(): Promise<void> {
    return this.pool.keep(filesPerFlush);
  }

  override async close(): Promise<void> {
    await super.close();
    this.pool.close();
  }

  override listFiles(): string[] {
    return this.pool.names();
  }

  protected override sizeOf(name: string): number {
    return this.file(name).handle.getSize() - headerBytes;
  }

  protected override readInto(name: string, offset: number, to: Uint8Array): void {
    const { handle } = this.file(name);
    for (let at = 0; at < to.length; ) {
      const count = handle.read(at === 0 ? to : to.subarray(at), { at: headerBytes + offset + at });
      if (count === 0) throw new NearfieldError('CORRUPT', `the file ${name} ends at byte ${offset + at}`);
      if (count > to.length - at) throw new NearfieldError('IO', `the file ${name} cannot be read`);
      at += count;
    }
  }

  protected override createFile(name: string): Sink {
    this.removeFile(name);
    const file = this.pool.take();
    let end = headerBytes;
    return {
      append: (bytes) => {
        writeAll(file.handle, bytes, end);
        end += bytes.length;
      },
      finish: () => {
        this.pool.name(file, name);
        this.written.add(file);
      },
      discard: () => this.pool.giveBack(file),
    };
  }

  protected override removeFile(name: string): void {
    const file = this.pool.find(name);
    if (file) this.written.delete(file);
    this.pool.remove(name);
  }

  protected override syncFiles(): void {
    for (const file of this.written) {
      file.handle.flush();
      this.written.delete(file);
    }
  }

  private file(name: string): PooledFile {
    const file = this.pool.find(name);
    if (!file) throw missing(name);
    return file;
  }
}
