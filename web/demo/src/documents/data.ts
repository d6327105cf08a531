// The documents: a JSON line each, and their embeddings in the same order.

import { DataError, fetchData } from '../data/fetch.ts';
import { toFloats } from '../data/floats.ts';

const recordsUrl = 'data/docs.jsonl';
const vectorsUrl = 'data/docs.f32';

export const dimensions = 384;

export interface DocumentData {
  readonly title: string;
  readonly body: string;
  readonly category: string;
  readonly tags: readonly string[];
  /** Of the whole text, of which `body` is the beginning. */
  readonly words: number;
}

export interface Documents {
  readonly ids: readonly string[];
  readonly metadata: readonly DocumentData[];
  /** Row after row. */
  readonly vectors: Float32Array;
}

export async function fetchDocuments(): Promise<Documents> {
  const [records, vectors] = await Promise.all([
    fetchData(recordsUrl).then((response) => response.text()),
    fetchData(vectorsUrl).then((response) => response.arrayBuffer()),
  ]);
  const parsed = parseLines(records);
  if (vectors.byteLength !== parsed.length * dimensions * Float32Array.BYTES_PER_ELEMENT) {
    throw new DataError('unreadable', vectorsUrl, `does not fit the ${parsed.length} records of ${recordsUrl}`);
  }
  return {
    ids: parsed.map(({ id }) => id),
    metadata: parsed.map(({ title, body, category, tags, words }) => ({ title, body, category, tags, words })),
    vectors: toFloats(vectors),
  };
}

function parseLines(text: string): (DocumentData & { id: string })[] {
  try {
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line) as DocumentData & { id: string });
  } catch {
    throw new DataError('unreadable', recordsUrl, 'not the JSON lines that were expected');
  }
}
