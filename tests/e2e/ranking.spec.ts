// Full text on the documents of the demo page, against BM25 computed the slow way: another way to cut words, no index.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';

const file = join(import.meta.dirname, '../../bench/datasets/cache/demo/docs.jsonl');
// Browsers and Node cut words at colons, which UAX #29 leaves to the language.
const bodies = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => (JSON.parse(line) as { body: string }).body.replaceAll(':', ' '));

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
const tokensOf = (text: string): string[] =>
  [...segmenter.segment(text.normalize('NFKC').toLowerCase().normalize('NFKC'))]
    .map(({ segment }) => segment)
    .filter((word) => /[\p{Alphabetic}\p{N}\p{Extended_Pictographic}]/u.test(word));

test('rankings of the documents are those of BM25', async () => {
  const documents = bodies.map(tokensOf);
  const count = documents.length;
  const average = documents.reduce((sum, words) => sum + words.length, 0) / count;
  const frequencies = documents.map((words) => {
    const frequency = new Map<string, number>();
    for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1);
    return frequency;
  });
  const score = (query: string[], document: number): number => {
    let sum = 0;
    for (const word of query) {
      const tf = frequencies[document]!.get(word) ?? 0;
      const n = frequencies.filter((frequency) => frequency.has(word)).length;
      const idf = Math.log(1 + (count - n + 0.5) / (n + 0.5));
      sum += (idf * tf) / (tf + 1.2 * (1 - 0.75 + (0.75 * documents[document]!.length) / average));
    }
    return sum;
  };

  const { open } = (await import(new URL('../../dist/sync-node.js', import.meta.url).href)) as typeof import('nearfield/sync');
  const db = await open('ranking');
  const docs = db.collection('docs', { dimensions: 1, fields: { body: 'text' } });
  docs.upsert(bodies.map((body, id) => ({ id, vector: [1], metadata: { body } })));
  let asked = 0;
  for (let i = 0; i < count; i += 10) {
    const words = documents[i]!.filter((word) => /^\p{L}{3,}$/u.test(word));
    const query = [words[2], words[8]].filter((word) => word !== undefined);
    const expected = documents
      .map((_, id) => ({ id, score: score(query, id) }))
      .filter((hit) => hit.score > 0)
      .sort((a, b) => b.score - a.score || a.id - b.id)
      .slice(0, 20);
    const hits = docs.search({ text: query.join(' '), k: 20 });
    expect(hits.map(({ id }) => id), query.join(' ')).toEqual(expected.map(({ id }) => id));
    hits.forEach((hit, at) => expect(hit.score).toBeCloseTo(expected[at]!.score, 9));
    asked += query.length;
  }
  expect(asked).toBeGreaterThan(150);
  await db.close();
});
