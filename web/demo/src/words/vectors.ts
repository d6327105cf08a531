// The vectors of the words: rows of little-endian f32 values in order of frequency, fetched in
// ranges, so that the 50,000 most frequent words cost 20 MB and not the whole 137 MB.

import { DataError, fetchData } from '../data/fetch.ts';
import { toFloats } from '../data/floats.ts';

export const vectorsUrl = 'data/words.f32';
export const dimensions = 100;
const rowBytes = dimensions * Float32Array.BYTES_PER_ELEMENT;

/** Rows [first, first + rows) as one flat array. */
export interface Piece {
  readonly first: number;
  readonly rows: number;
  readonly vectors: Float32Array;
}

/** The pieces that `borders` cut: [0, 2000, 10000] gives rows 0..1999 and 2000..9999. */
export async function* fetchPieces(
  borders: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<Piece, void, undefined> {
  const start = borders[0] ?? 0;
  const end = borders.at(-1) ?? 0;
  let stream: RowStream | undefined;
  // One piece is on its way while the one before it is being stored.
  let ahead = borders.length > 1 ? fetchRange(start, borders[1] ?? end, signal) : undefined;
  try {
    for (let index = 0; index + 1 < borders.length; index += 1) {
      const first = borders[index] ?? start;
      const next = borders[index + 1] ?? end;
      let vectors: Float32Array;
      if (stream) {
        vectors = await stream.rows(next - first);
      } else {
        const answer: Float32Array | ReadableStream<Uint8Array> | undefined = await ahead;
        if (answer === undefined) return;
        if (answer instanceof Float32Array) {
          vectors = answer;
          const after = borders[index + 2];
          ahead = after === undefined ? undefined : fetchRange(next, after, signal);
          // Its failure is reported when it is awaited, which a cancelled run never does.
          ahead?.catch(() => undefined);
        } else {
          // The server ignores ranges: read the whole answer once, from its beginning.
          stream = new RowStream(answer);
          await stream.skip(first);
          vectors = await stream.rows(next - first);
        }
      }
      const rows = vectors.length / dimensions;
      yield { first, rows, vectors };
      if (rows < next - first) return; // the file has fewer rows than were asked for
    }
  } finally {
    await stream?.cancel();
  }
}

async function fetchRange(
  first: number,
  end: number,
  signal: AbortSignal,
): Promise<Float32Array | ReadableStream<Uint8Array>> {
  const range = `bytes=${first * rowBytes}-${end * rowBytes - 1}`;
  const response = await fetchData(vectorsUrl, { signal, headers: { Range: range } });
  if (response.status !== 206) {
    if (!response.body) throw new DataError('unreadable', vectorsUrl, 'the answer has no body');
    return response.body;
  }
  const buffer = await response.arrayBuffer();
  if (buffer.byteLength % rowBytes !== 0) {
    throw new DataError('unreadable', vectorsUrl, 'the answer is cut within a row');
  }
  return toFloats(buffer);
}

/** Takes whole rows off a stream of bytes that arrives in pieces of any length. */
class RowStream {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private pending: Uint8Array = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array>) {
    this.reader = stream.getReader();
  }

  async skip(rows: number): Promise<void> {
    let left = rows * rowBytes;
    while (left > 0 && (await this.fill())) {
      const taken = Math.min(left, this.pending.byteLength);
      this.pending = this.pending.subarray(taken);
      left -= taken;
    }
  }

  async rows(wanted: number): Promise<Float32Array> {
    const target = new Uint8Array(wanted * rowBytes);
    let filled = 0;
    while (filled < target.byteLength && (await this.fill())) {
      const taken = this.pending.subarray(0, target.byteLength - filled);
      target.set(taken, filled);
      filled += taken.byteLength;
      this.pending = this.pending.subarray(taken.byteLength);
    }
    return toFloats(target.buffer.slice(0, filled - (filled % rowBytes)));
  }

  async cancel(): Promise<void> {
    await this.reader.cancel().catch(() => undefined);
  }

  private async fill(): Promise<boolean> {
    if (this.pending.byteLength > 0) return true;
    const { done, value } = await this.reader.read();
    if (done) return false;
    this.pending = value;
    return true;
  }
}
