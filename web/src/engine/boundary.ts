// How values cross between JavaScript and the engine; wasm/boundary.h describes the bytes.
import { NearfieldError, invalid } from '../errors.js';
import type { PackedField, PackedText } from '../records.js';
import type { Id } from '../types.js';

const integerTag = 0xffffffff;
const largestId = 2n ** 63n - 1n;
const smallestId = -(2n ** 63n);
const emptyBytes = new Uint8Array(0);

const largestBytes = 2 ** 32; // what the engine can address

/** Runs what asks for about `size` bytes of memory. Fails with `INVALID_ARGUMENT` or `OUT_OF_MEMORY`. */
export function allocating<T>(size: number, what: string, make: () => T): T {
  if (size > largestBytes) throw invalid(`${what} would take ${size} bytes; the engine has room for ${largestBytes}`);
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NearfieldError('OUT_OF_MEMORY', `no memory for ${size} bytes of ${what}; nothing was changed`, { cause: error });
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // a leading U+FEFF is part of the text

/** Grows as values are appended. */
class ByteWriter {
  private bytes: Uint8Array<ArrayBuffer>;
  private view: DataView;
  private end = 0;

  constructor(capacity: number) {
    this.bytes = allocating(capacity, 'ids and metadata', () => new Uint8Array(capacity));
    this.view = new DataView(this.bytes.buffer);
  }

  private reserve(size: number): void {
    if (this.end + size <= this.bytes.length) return;
    const needed = Math.max(Math.min(this.bytes.length * 2, largestBytes), this.end + size);
    const larger = allocating(needed, 'ids and metadata', () => new Uint8Array(needed));
    larger.set(this.bytes.subarray(0, this.end));
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }

  text(value: string): void {
    this.reserve(4 + value.length * 3);
    const { written } = encoder.encodeInto(value, this.bytes.subarray(this.end + 4));
    this.view.setUint32(this.end, written, true);
    this.end += 4 + written;
  }

  integer(value: bigint): void {
    this.reserve(12);
    this.view.setUint32(this.end, integerTag, true);
    this.view.setBigInt64(this.end + 4, value, true);
    this.end += 12;
  }

  safeInteger(value: number): void {
    this.reserve(12);
    this.view.setUint32(this.end, integerTag, true);
    this.view.setUint32(this.end + 4, value >>> 0, true);
    this.view.setInt32(this.end + 8, Math.floor(value / 2 ** 32), true);
    this.end += 12;
  }

  uint8(value: number): void {
    this.reserve(1);
    this.view.setUint8(this.end++, value);
  }

  uint32(value: number): void {
    this.reserve(4);
    this.view.setUint32(this.end, value, true);
    this.end += 4;
  }

  float64(value: number): void {
    this.reserve(8);
    this.view.setFloat64(this.end, value, true);
    this.end += 8;
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.end);
  }
}

function describe(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return String(value);
  return value === null ? 'null' : typeof value;
}

function writeId(out: ByteWriter, id: Id, position: number): void {
  const refuse = (expected: string): never => {
    throw new NearfieldError('INVALID_ID', `id ${position} is ${describe(id)}; ${expected}`);
  };
  switch (typeof id) {
    case 'string':
      if (!id.isWellFormed()) refuse('expected a string without unpaired surrogates');
      out.text(id);
      return;
    case 'number':
      if (!Number.isSafeInteger(id)) {
        refuse('expected a string, an integer within ±(2^53 − 1), or a bigint for larger integers');
      }
      out.safeInteger(id);
      return;
    case 'bigint':
      if (id > largestId || id < smallestId) refuse('expected an integer of at most 64 bits');
      if (id <= BigInt(Number.MAX_SAFE_INTEGER) && id >= BigInt(Number.MIN_SAFE_INTEGER)) {
        refuse('integers within ±(2^53 − 1) are given as numbers');
      }
      out.integer(id);
      return;
    default:
      refuse('expected a string or an integer');
  }
}

/** Packs ids. Fails with `INVALID_ID` and, where the array has a hole, `INVALID_ARGUMENT`, naming the position. */
export function encodeIds(ids: ArrayLike<Id>): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(ids.length * 16);
  for (let i = 0; i < ids.length; ++i) {
    if (!(i in ids)) throw invalid(`id ${i} is missing: the array has a hole there`);
    writeId(out, ids[i] as Id, i);
  }
  return out.finish();
}

function toJson(value: unknown, row: number): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw invalid(`metadata of row ${row} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (text === undefined) throw invalid(`metadata of row ${row} is a ${typeof value}; expected a JSON value`);
  return text;
}

/** Packs the texts of rows; nothing when all are empty. */
export function encodeTexts(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  if (texts.every((text) => text === '')) return emptyBytes;
  const out = new ByteWriter(texts.length * 64);
  for (const text of texts) out.text(text);
  return out.finish();
}

/** Packs metadata as JSON texts; nothing when no row has any. Fails with `INVALID_ARGUMENT`, naming the row. */
export function encodeMetadata(values: ArrayLike<unknown>): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(values.length * 64);
  let any = false;
  for (let i = 0; i < values.length; ++i) {
    if (!(i in values)) throw invalid(`metadata of row ${i} is missing: the array has a hole there; undefined means none`);
    const value = values[i];
    any ||= value !== undefined;
    out.text(value === undefined ? '' : toJson(value, i));
  }
  return any ? out.finish() : emptyBytes;
}

export function encodeFields(fields: readonly PackedField[]): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(fields.length * 32 + 4);
  out.uint32(fields.length);
  for (const { name, type, stopWords, prefix } of fields) {
    out.text(name);
    out.uint8(type);
    out.uint8(Number(stopWords));
    out.uint8(Number(prefix));
  }
  return out.finish();
}

export function encodeText({ query, weights }: PackedText): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(query.length * 3 + weights.length * 32 + 8);
  out.text(query);
  out.uint32(weights.length);
  for (const { field, weight } of weights) {
    out.text(field);
    out.float64(weight);
  }
  return out.finish();
}

/** The index in a string of what begins so many UTF-8 bytes into it. */
export function stringIndex(text: string, bytes: number): number {
  return decoder.decode(encoder.encode(text).subarray(0, bytes)).length;
}

/** Reads an answer of the engine from its start to its end. */
export class ByteReader {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  uint8(): number {
    return this.view.getUint8(this.at++);
  }

  uint32(): number {
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }

  float32(): number {
    this.at += 4;
    return this.view.getFloat32(this.at - 4, true);
  }

  float64(): number {
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }

  text(): string {
    return this.characters(this.uint32());
  }

  id(): Id {
    const length = this.uint32();
    if (length !== integerTag) return this.characters(length);
    this.at += 8;
    const low = this.view.getUint32(this.at - 8, true);
    const high = this.view.getInt32(this.at - 4, true);
    const value = high * 2 ** 32 + low;
    return Number.isSafeInteger(value) ? value : this.view.getBigInt64(this.at - 8, true);
  }

  /** A copy. */
  floats(count: number): Float32Array {
    const copy = this.bytes.slice(this.at, this.at + count * 4);
    this.at += count * 4;
    return new Float32Array(copy.buffer);
  }

  private characters(length: number): string {
    this.at += length;
    return decoder.decode(this.bytes.subarray(this.at - length, this.at));
  }
}
