// Backend: where files are kept, as the engine calls it (wasm/js_storage.h) and as the session runs it.
import { NearfieldError, errorCodes, toNearfieldError } from '../errors.js';
import type { StorageCalls } from '../engine/module.js';
import type { StorageKind } from '../types.js';

/** The engine's memory, asked for anew at each use: growing replaces it. */
export type Heap = () => Uint8Array;

export const missing = (name: string): NearfieldError =>
  new NearfieldError('NOT_FOUND', `there is no file ${name} in the storage`);

/** A file being written. */
export interface Sink {
  append(bytes: Uint8Array): void;
  finish(): void;
  /** Gives the file up: nothing of it stays. */
  discard(): void;
}

/**
 * The calls of the engine are synchronous and never throw: guard() turns what the methods of a backend throw into
 * the numbers that the engine expects. Around them the session awaits the asynchronous part.
 */
export abstract class Backend implements StorageCalls {
  abstract readonly kind: StorageKind;
  /** Where a flush starts another file. */
  readonly preferredFileBytes: number = 4 << 20;
  detail = '';
  names: readonly string[] = [];
  /** How many bytes may be written before the storage is full, as far as it is known. */
  protected room = Infinity;

  private readonly sinks = new Map<number, Sink>();
  private readonly givenUp = new Set<number>();
  private lastSink = 0;

  constructor(private readonly heap: Heap) {}

  // The asynchronous part.

  /** Finds out how much may be written. Before the engine flushes; undefined where it need not be waited for. */
  prepare(): Promise<void> | undefined {
    return undefined;
  }
  /** Stores what the engine has written. After the engine flushed. */
  async commit(): Promise<void> {}
  /** Gives up memory that holds stored files. After the engine opened, and after commit(). */
  release(): void {}
  /** Makes released files readable again. Before the engine reads stored files once more. */
  async restore(): Promise<void> {}
  async close(): Promise<void> {
    this.discardUnfinished();
  }

  // What each backend does; these throw.

  abstract listFiles(): string[];
  protected abstract sizeOf(name: string): number;
  protected abstract readInto(name: string, offset: number, to: Uint8Array): void;
  protected abstract createFile(name: string): Sink;
  protected abstract removeFile(name: string): void;
  protected syncFiles(): void {}

  // What the engine calls.

  list(): number {
    return this.guard(() => (this.names = this.listFiles()).length);
  }

  size(name: string): number {
    return this.guard(() => this.sizeOf(name));
  }

  read(name: string, offset: number, address: number, length: number): number {
    return this.guard(() => {
      this.readInto(name, offset, this.heap().subarray(address, address + length));
      return length;
    });
  }

  create(name: string): number {
    return this.guard(() => {
      this.sinks.set(++this.lastSink, this.createFile(name));
      return this.lastSink;
    });
  }

  append(file: number, address: number, length: number): number {
    return this.guard(() => {
      this.write(file, (sink) => {
        this.takeRoom(length);
        sink.append(this.heap().subarray(address, address + length));
      });
      return length;
    });
  }

  finish(file: number): number {
    return this.guard(() => {
      this.write(file, (sink) => sink.finish());
      this.sinks.delete(file);
      return 0;
    });
  }

  remove(name: string): number {
    return this.guard(() => {
      this.removeFile(name);
      return 0;
    });
  }

  sync(): number {
    return this.guard(() => {
      this.syncFiles();
      return 0;
    });
  }

  /** Gives up the files that the engine began and did not finish. */
  protected discardUnfinished(): void {
    for (const sink of this.sinks.values()) sink.discard();
    this.sinks.clear();
  }

  /** A file that could not be written whole is given up, so that its room is free again. */
  private write(file: number, action: (sink: Sink) => void): void {
    const sink = this.sinks.get(file);
    if (!sink) {
      if (this.givenUp.has(file)) throw new NearfieldError('IO', 'a file could not be written whole and was given up');
      return; // finished before
    }
    try {
      action(sink);
    } catch (error) {
      this.sinks.delete(file);
      this.givenUp.add(file);
      try {
        sink.discard();
      } catch {
        // The first failure says more.
      }
      throw error;
    }
  }

  private takeRoom(bytes: number): void {
    if (bytes > this.room) throw new NearfieldError('QUOTA', `the storage is full: there is room for ${this.room} more bytes`);
    this.room -= bytes;
  }

  private guard(action: () => number): number {
    try {
      return action();
    } catch (thrown) {
      const { code, message } = toNearfieldError(thrown);
      this.detail = message;
      return -1 - errorCodes.indexOf(code);
    }
  }
}

/** Copies what is appended and hands the whole file over when it is finished. */
export class CollectingSink implements Sink {
  private readonly pieces: Uint8Array[] = [];
  private length = 0;

  constructor(private readonly done: (contents: Uint8Array<ArrayBuffer>) => void) {}

  append(bytes: Uint8Array): void {
    this.pieces.push(bytes.slice());
    this.length += bytes.length;
  }

  finish(): void {
    const whole = new Uint8Array(this.length);
    let at = 0;
    for (const piece of this.pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    this.pieces.length = 0;
    this.done(whole);
  }

  discard(): void {
    this.pieces.length = 0;
  }
}

/** Copies a part of a file; a file that is too short is damaged. */
export function copyPart(name: string, contents: Uint8Array, offset: number, to: Uint8Array): void {
  if (offset + to.length > contents.length) {
    throw new NearfieldError(
      'CORRUPT',
      `the file ${name} has ${contents.length} bytes, but ${to.length} from byte ${offset} are needed`,
    );
  }
  to.set(contents.subarray(offset, offset + to.length));
}
