// Changes of records, joined with what is stored into a batch that replaces them.
import type { PackedBatch, PackedUpdate } from '../arguments.js';
import { NearfieldError } from '../errors.js';
import { ByteReader, allocating, encodeTexts } from './boundary.js';

/** `stored` is what get() answers for the ids of the update. Fails with `NOT_FOUND`, naming the first that is missing. */
export function mergeUpdate(update: PackedUpdate, stored: Uint8Array, dimensions: number): PackedBatch {
  const { count, hasVector, vectors, metadata } = update;
  const ids = new ByteReader(update.ids);
  const given = metadata.length > 0 ? new ByteReader(metadata) : undefined;
  const records = new ByteReader(stored);
  const all = allocating(count * dimensions * 4, 'vectors', () => new Float32Array(count * dimensions));
  const texts: string[] = [];
  let used = 0;
  for (let row = 0; row < count; ++row) {
    const id = ids.id();
    if (records.uint8() === 0) {
      const shown = typeof id === 'string' ? JSON.stringify(id) : String(id);
      throw new NearfieldError('NOT_FOUND', `no record has the id ${shown}; update changes records that are there`);
    }
    records.id();
    const text = records.text();
    const vector = records.floats(dimensions);
    if (hasVector[row] === 1) all.set(vectors.subarray(used, (used += dimensions)), row * dimensions);
    else all.set(vector, row * dimensions);
    texts.push((given?.text() ?? '') || text);
  }
  return { rows: count, vectors: all, ids: update.ids, metadata: encodeTexts(texts) };
}
