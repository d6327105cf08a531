// node bench/web/filtered.mjs [SET] [--rounds N] [--share PERCENT]: searches among a random part of the rows in the page,
// beside hnswlib-wasm with a filter function, alternating. Each side is asked for the ten nearest of the rows that match;
// recall is against the exact answer among them. The filter is the same for all queries, as it is while somebody types:
// Nearfield evaluates it once, on a declared field.
import { parseArgs } from 'node:util';
import { main, step } from '../../scripts/lib/run.mjs';
import { readSet } from '../lib/data-set.mjs';
import { median } from '../lib/measure.mjs';
import { withPage } from './chromium.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, share: { type: 'string', default: '1' } },
});
const name = positionals[0] ?? 'clustered-100k-128';
const rounds = Number(values.rounds);
const share = Number(values.share);

/** Runs in the page. */
async function measure({ name, rows, dimensions, metric, rounds, share }) {
  const floats = async (kind) => new Float32Array(await (await fetch(`/data/${name}.${kind}.f32`)).arrayBuffer());
  const vectors = await floats('base');
  const all = await floats('query');
  const queries = Array.from({ length: 200 }, (_, i) => all.slice(i * dimensions, (i + 1) * dimensions));
  // A row matches by a hash of its number.
  const partOf = (id) => (Math.imul(id + 1, 2654435761) >>> 0) % 10_000;
  const most = share * 100;

  const { open } = await import('/dist/sync.js');
  const db = await open('filtered', { storage: 'memory' });
  const docs = db.collection('docs', { dimensions, metric, fields: { part: 'number' } });
  const batch = 10_000;
  for (let first = 0; first < rows; first += batch) {
    const ids = Array.from({ length: Math.min(batch, rows - first) }, (_, i) => first + i);
    docs.upsert(
      { ids, vectors: vectors.subarray(first * dimensions, (first + ids.length) * dimensions), metadata: ids.map((id) => ({ part: partOf(id) })) },
      { link: false },
    );
  }
  docs.index();
  const where = { part: { $lt: most } };
  const exact = queries.map((vector) => new Set(docs.search({ vector, where, k: 10, exact: true }).map(({ id }) => id)));

  const peer = await (await import('/page/hnswlib-wasm.mjs')).load({ store: 'none', dimensions, metric, rows });
  peer.build(vectors);
  const sides = {
    nearfield: (vector) => docs.search({ vector, where, k: 10 }).map(({ id }) => id),
    'hnswlib-wasm': (vector) => peer.search(vector, 100, (id) => partOf(id) < most),
  };
  const results = {};
  for (const side of Object.keys(sides)) results[side] = { rates: [], found: 0, fewest: 10 };
  for (let round = 0; round < rounds; ++round) {
    for (const [side, search] of Object.entries(sides)) {
      const result = results[side];
      const start = performance.now();
      const answers = queries.map(search);
      result.rates.push(queries.length / ((performance.now() - start) / 1000));
      if (round > 0) continue;
      answers.forEach((ids, q) => {
        result.found += ids.filter((id) => exact[q].has(id)).length;
        result.fewest = Math.min(result.fewest, ids.length);
      });
    }
  }
  const { plan, matches } = docs.explain({ vector: queries[0], where, k: 10 });
  db.close();
  return { results, plan, matches, asked: queries.length * 10 };
}

await main(async () => {
  await step(`searches among ${share} % of ${name}`, async () => {
    const { rows, dimensions, metric } = readSet(name);
    const { results, plan, matches, asked } = await withPage((page) =>
      page.evaluate(measure, { name, rows, dimensions, metric, rounds, share }),
    );
    console.log(`\n${name}, ${rows} × ${dimensions}, ${metric}: ${matches} rows match; plan ${plan}; medians of ${rounds}\n`);
    console.log('| | queries/s | recall@10 | fewest rows |\n| --- | --- | --- | --- |');
    for (const [side, { rates, found, fewest }] of Object.entries(results)) {
      console.log(`| ${side} | ${median(rates).toFixed(0)} | ${(found / asked).toFixed(4)} | ${fewest} |`);
    }
    const [mine, other] = Object.values(results).map(({ rates }) => median(rates));
    console.log(`\nratio ${(mine / other).toFixed(0)}`);
  });
});
