// node bench/web/text.mjs [--rounds N]: full text in the page. Indexes the glosses of WordNet, a field of text each, and
// times searches of two words of one gloss, in the calling thread. Prints the time of indexing, and the median and 99th
// percentile of a search over all rounds.
import { parseArgs } from 'node:util';
import { main, step } from '../../scripts/lib/run.mjs';
import { withPage } from './chromium.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);
const queries = 1000;

/** Runs in the page. */
async function measure({ rounds, queries }) {
  const { open } = await import('/dist/sync.js');
  const lines = (await (await fetch('/data/glosses.jsonl')).text()).split('\n').filter((line) => line !== '');
  const glosses = lines.map((line) => JSON.parse(line));
  const db = await open('glosses', { storage: 'memory' });
  const docs = db.collection('glosses', { dimensions: 1, fields: { gloss: 'text' } });
  const vector = new Float32Array([1]);
  const start = performance.now();
  const batch = 1000;
  for (let first = 0; first < glosses.length; first += batch) {
    docs.upsert(
      glosses.slice(first, first + batch).map((metadata, i) => ({ id: first + i, vector, metadata })),
      { link: false },
    );
  }
  const indexed = performance.now() - start;

  // Words of three letters and more, two of a gloss; the same ones on every machine.
  const texts = [];
  for (let i = 0; texts.length < queries; ++i) {
    const words = glosses[(i * 7919) % glosses.length].gloss.match(/\p{L}{3,}/gu) ?? [];
    if (words.length >= 2) texts.push(`${words[i % words.length]} ${words[(i + 1) % words.length]}`);
  }
  const times = [];
  let found = 0;
  for (let round = 0; round <= rounds; ++round) {
    for (const text of texts) {
      const begin = performance.now();
      const hits = docs.search({ text, k: 10 });
      if (round > 0) times.push(performance.now() - begin); // the first round warms up
      found += hits.length;
    }
  }
  const { variant } = db.info();
  const { memoryBytes } = docs.stats();
  db.close();
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))];
  return { rows: glosses.length, indexed, variant, memoryBytes, median: at(0.5), p99: at(0.99), found: found / (rounds + 1) };
}

await main(async () => {
  await step('full text in the page', async () => {
    const result = await withPage((page) => page.evaluate(measure, { rounds, queries }));
    console.log(`\n${result.rows} texts indexed in ${(result.indexed / 1000).toFixed(1)} s (${result.variant}, one thread), ${(result.memoryBytes / 1e6).toFixed(0)} MB`);
    console.log(`two words: median ${result.median.toFixed(2)} ms, 99th percentile ${result.p99.toFixed(2)} ms; ${result.found} hits for ${queries} searches`);
  });
});
