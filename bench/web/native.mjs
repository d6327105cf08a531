// node bench/web/native.mjs [SET] [--rows N] [--rounds N]: the engine in Chromium beside the native program, one thread
// each, on the very same index: the native program builds and packs it, the page opens that file. Prints the ratio of
// medians; rounds alternate. The native program, a new process each round, touches its mapped files for the first time:
// it gets the queries so many times over that this does not count.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { root } from '../../scripts/lib/paths.mjs';
import { StepError, main, step } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/static-server.mjs';
import { cache, readSet } from '../lib/data-set.mjs';
import { inTurn, median } from '../lib/measure.mjs';

const program = join(root, 'build', 'native', 'nearfield');
const targets = [900, 950, 980, 990];
const repeats = 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rows: { type: 'string', default: '50000' }, rounds: { type: 'string', default: '7' } },
});
const name = positionals[0] ?? 'words-50k';
const rounds = Number(values.rounds);

const run = (...args) => execFileSync(program, args, { encoding: 'utf8' });

async function measure(folder) {
  const set = readSet(name);
  const rows = Math.min(set.rows, Number(values.rows));
  const base = join(folder, 'base.f32');
  const queries = join(folder, 'queries.f32');
  writeFileSync(base, set.base().subarray(0, rows * set.dimensions));
  writeFileSync(queries, set.query);
  const repeated = join(folder, 'repeated.f32');
  const once = readFileSync(queries);
  writeFileSync(repeated, Buffer.concat(Array.from({ length: repeats }, () => once)));
  const store = join(folder, 'store');
  run('import', store, '--from', base, '--dimensions', String(set.dimensions), '--metric', set.metric);
  run('pack', store, join(folder, 'packed.nf'));

  const mounts = {
    '/': join(root, 'tests', 'e2e', 'blank'),
    '/page/': join(import.meta.dirname, 'page'),
    '/dist/': join(root, 'dist'),
    '/data/': cache,
    '/packed/': folder,
  };
  const server = await serve({ mounts });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${server.address().port}/`);
    await page.evaluate((module) => import(module), '/page/bench.mjs');
    /* global window */
    const call = (what, given) => page.evaluate(([name, argument]) => window.bench(name, argument), [what, given]);
    await call('load', {
      module: '/page/nearfield-packed.mjs',
      packed: '/packed/packed.nf',
      queries: '/packed/queries.f32',
      dimensions: set.dimensions,
    });
    const count = set.query.length / set.dimensions;
    const inPage = async (target) => count / (await call('search', target)).seconds;
    const natively = (target) =>
      JSON.parse(
        run('search', store, '--queries', repeated, '--k', '10', '--recall', String(target / 1000), '--threads', '1', '--json'),
      ).qps;
    for (let warm = 0; warm < 3; ++warm) await inPage(targets[0]);
    const lines = [];
    for (const target of targets) {
      const sides = [{ rate: inPage, rates: [] }, { rate: natively, rates: [] }];
      for (let round = 0; round < rounds; ++round) {
        for (const side of inTurn(sides, round)) side.rates.push(await side.rate(target));
      }
      const [wasm, native] = sides.map(({ rates }) => median(rates));
      lines.push(`| ${target / 1000} | ${wasm.toFixed(0)} | ${native.toFixed(0)} | ${(wasm / native).toFixed(2)} |`);
    }
    const kernels = JSON.parse(run('kernels', '--json')).in_use;
    return [
      `${name}, ${rows} × ${set.dimensions}, ${set.metric}; the page: ${await call('about')}; native: ${kernels}; medians of ${rounds}`,
      '',
      '| recall asked for | page, queries/s | native, queries/s | ratio |',
      '| --- | --- | --- | --- |',
      ...lines,
    ].join('\n');
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

await main(async () => {
  if (!existsSync(program)) throw new StepError(`${program} is missing; run: npm run build native`);
  if (!existsSync(join(root, 'dist', 'index.js'))) throw new StepError('there is no package in dist; run: npm run build web');
  const folder = mkdtempSync(join(tmpdir(), 'nearfield-native-'));
  try {
    let table;
    await step(`measure ${name} in Chromium and natively`, async () => {
      table = await measure(folder);
    });
    console.log(`\n${table}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
