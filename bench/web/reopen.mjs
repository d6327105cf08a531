// node bench/web/reopen.mjs [--json] [--rounds N] [--rows N] [--dist FOLDER]...: how long a page takes to build a
// store, and to open it again after a reload, in Chromium with IndexedDB on disk.
//
// The rows are the word vectors when bench/datasets/prepare.mjs made them, else random ones. With several --dist
// folders (npm run build makes dist/; keep a copy of an older one) every round opens the same store with each of
// them, in turn, and the ratio of the medians is printed.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { root } from '../../scripts/lib/paths.mjs';
import { StepError, main } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/static-server.mjs';

const set = 'words-50k';
const cache = join(root, 'bench', 'datasets', 'cache');
const blank = join(root, 'tests', 'e2e', 'blank');

function parse() {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '7' },
      rows: { type: 'string', default: '50000' },
      dist: { type: 'string', multiple: true, default: [join(root, 'dist')] },
    },
  });
  const whole = (name, least) => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < least) throw new StepError(`--${name} must be an integer from ${least}`);
    return value;
  };
  const dists = values.dist.map((folder) => resolve(folder));
  const absent = dists.find((folder) => !existsSync(join(folder, 'index.js')));
  if (absent) throw new StepError(`there is no package in ${absent}; run: npm run build web`);
  return { json: values.json, rounds: whole('rounds', 5), rows: whole('rows', 1), dists };
}

/** The word vectors' description, null when they are not prepared. */
function words() {
  try {
    return JSON.parse(readFileSync(join(cache, `${set}.meta.json`), 'utf8'));
  } catch {
    return null;
  }
}

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

// What follows up to measure() runs in the page.
/* global indexedDB */

async function buildStore({ module, rows, dimensions, source }) {
  const { open } = await import(module);
  let vectors;
  if (source) {
    const whole = await (await fetch(source)).arrayBuffer();
    vectors = new Float32Array(whole, 0, rows * dimensions);
  } else {
    let state = 1;
    const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) - 0.5;
    vectors = Float32Array.from({ length: rows * dimensions }, random);
  }
  const ids = Array.from({ length: rows }, (_, i) => `row ${i}`);
  const db = await open('bench');
  const docs = await db.collection('docs', { dimensions });
  const start = performance.now();
  await docs.upsert({ ids, vectors, metadata: ids });
  const built = performance.now();
  await db.flush();
  const flushed = performance.now();
  const { engineBytes, variant, kernels } = await db.info();
  await db.close();
  return { build: built - start, flush: flushed - built, engineBytes, variant, kernels, query: [...vectors.slice(0, dimensions)] };
}

async function openStore({ module, query }) {
  const { open } = await import(module);
  const start = performance.now();
  const db = await open('bench');
  const docs = await db.collection('docs');
  const hits = await docs.search({ vector: query });
  const milliseconds = performance.now() - start;
  const { distanceComputations } = await docs.stats();
  const { engineBytes } = await db.info();
  await db.close();
  return { milliseconds, found: hits.map(({ id }) => id).join(), distanceComputations, engineBytes };
}

/** What an opening is made of, each part alone. */
async function parts({ module }) {
  const { open } = await import(module);
  const boot = performance.now();
  const db = await open('boot', { storage: 'memory' });
  const booted = performance.now();
  await db.close();

  const answer = (request) =>
    new Promise((done, failed) => {
      request.onsuccess = () => done(request.result);
      request.onerror = () => failed(request.error);
    });
  const read = performance.now();
  const connection = await answer(indexedDB.open('/nearfield/bench'));
  const store = connection.transaction('FILE_DATA').objectStore('FILE_DATA');
  const keys = await answer(store.getAllKeys());
  const entries = await Promise.all(keys.map((key) => answer(store.get(key))));
  const arrived = performance.now();
  connection.close();

  const contents = entries.map((entry) => entry.contents).filter(Boolean);
  const bytes = contents.reduce((sum, { length }) => sum + length, 0);
  const copy = performance.now();
  const memory = new Uint8Array(bytes);
  let at = 0;
  for (const part of contents) {
    memory.set(part, at);
    at += part.length;
  }
  const copied = performance.now();
  return { boot: booted - boot, read: arrived - read, copy: copied - copy, bytes, entries: contents.length };
}

async function measure({ rounds, rows, dists }) {
  const prepared = words();
  const dimensions = prepared?.dimensions ?? 100;
  const count = prepared ? Math.min(rows, prepared.rows) : rows;
  const mounts = { '/': blank, '/data/': cache };
  dists.forEach((folder, i) => (mounts[`/dist-${i}/`] = folder));
  const server = await serve({ mounts });
  const address = `http://localhost:${server.address().port}/`;
  const modules = dists.map((_, i) => `${address}dist-${i}/index.js`);
  // A profile of its own: contexts without one keep IndexedDB in memory.
  const profile = mkdtempSync(join(tmpdir(), 'nearfield-bench-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update'],
  });
  try {
    const page = await context.newPage();
    const inPage = async (action, args) => {
      await page.goto(address);
      return page.evaluate(action, args);
    };
    const source = prepared && `${address}data/${set}.base.f32`;
    const { query, ...built } = await inPage(buildStore, { module: modules[0], rows: count, dimensions, source });
    const openings = modules.map(() => []);
    const split = [];
    let expected;
    for (let round = 0; round < rounds; ++round) {
      // Every second round goes the other way, so that none is always the first.
      const order = modules.map((_, i) => (round % 2 ? modules.length - 1 - i : i));
      for (const i of order) {
        const opening = await inPage(openStore, { module: modules[i], query });
        expected ??= opening.found;
        if (opening.found !== expected) throw new StepError(`${dists[i]} finds ${opening.found}, not ${expected}`);
        openings[i].push(opening);
      }
      split.push(await inPage(parts, { module: modules[0] }));
    }
    const all = (name) => split.map((part) => part[name]);
    return {
      set: prepared ? set : 'random',
      rows: count,
      dimensions,
      variant: built.variant,
      kernels: built.kernels,
      bytes: split[0].bytes,
      entries: split[0].entries,
      build_ms: built.build,
      flush_ms: built.flush,
      engine_bytes_built: built.engineBytes,
      open: openings.map((list, i) => ({
        dist: dists[i],
        median_ms: median(list.map(({ milliseconds }) => milliseconds)),
        all_ms: list.map(({ milliseconds }) => milliseconds),
        engine_bytes: list[0].engineBytes,
        distance_computations: list[0].distanceComputations,
      })),
      parts: {
        engine_boot_ms: { median: median(all('boot')), all: all('boot') },
        read_ms: { median: median(all('read')), all: all('read') },
        first_copy_ms: { median: median(all('copy')), all: all('copy') },
      },
    };
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
    server.closeAllConnections();
    server.close();
  }
}

const ms = (value) => `${Math.round(value)} ms`;
const list = (values) => values.map(Math.round).join(' ');

function print(result) {
  const { parts: split } = result;
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(`${result.set}: ${result.rows} x ${result.dimensions}; engine ${result.variant}, kernels ${result.kernels}`);
  console.log(`  stored             ${megabytes(result.bytes)} in ${result.entries} entries`);
  console.log(`  build              ${ms(result.build_ms)}`);
  console.log(`  flush              ${ms(result.flush_ms)}`);
  for (const { dist, median_ms, all_ms, engine_bytes } of result.open) {
    console.log(`  open, first answer ${ms(median_ms)}   (${list(all_ms)}; engine ${megabytes(engine_bytes)})${result.open.length > 1 ? ` ${dist}` : ''}`);
    if (dist !== result.open[0].dist) {
      console.log(`                     ${(median_ms / result.open[0].median_ms).toFixed(3)} of the first`);
    }
  }
  console.log('Each part alone:');
  console.log(`  engine, in memory  ${ms(split.engine_boot_ms.median)}   (${list(split.engine_boot_ms.all)})`);
  console.log(`  IndexedDB read     ${ms(split.read_ms.median)}   (${list(split.read_ms.all)})`);
  console.log(`  first copy         ${ms(split.first_copy_ms.median)}   (${list(split.first_copy_ms.all)})`);
}

await main(async () => {
  const options = parse();
  const result = await measure(options);
  if (options.json) console.log(JSON.stringify(result, null, 2));
  else print(result);
});
