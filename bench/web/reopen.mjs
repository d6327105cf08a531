// node bench/web/reopen.mjs [--json] [--rounds N] [--rows N] [--set NAME] [--storage indexeddb|opfs] [--dist FOLDER]...:
// how long a page takes to build a store, to open it again after a reload, and to flush one changed row, in Chromium
// with the storage on disk.
//
// The rows are those of a set that bench/datasets/prepare.mjs made, the word vectors unless named, else random ones.
// With several --dist folders (npm run build makes dist/; keep a copy of an older one) every round opens the same store with each of
// them, in turn, and the ratio of the medians is printed.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { root } from '../../scripts/lib/paths.mjs';
import { StepError, main } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/static-server.mjs';

const storages = ['indexeddb', 'opfs'];
const cache = join(root, 'bench', 'datasets', 'cache');
const blank = join(root, 'tests', 'e2e', 'blank');

function parse() {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '7' },
      rows: { type: 'string', default: '50000' },
      set: { type: 'string', default: 'words-50k' },
      storage: { type: 'string', default: storages[0] },
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
  const { json, set, storage } = values;
  if (!storages.includes(storage)) throw new StepError(`--storage must be one of ${storages.join(', ')}`);
  return { json, set, storage, rounds: whole('rounds', 5), rows: whole('rows', 1), dists };
}

/** A set's description, null when it is not prepared. */
function describe(set) {
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
/* global Blob, Worker, indexedDB, navigator, postMessage */

async function buildStore({ module, storage, rows, dimensions, source }) {
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
  const db = await open('bench', { storage });
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

async function openStore({ module, storage, query }) {
  const { open } = await import(module);
  const start = performance.now();
  const db = await open('bench', { storage });
  const opened = performance.now();
  const docs = await db.collection('docs');
  const hits = await docs.search({ vector: query });
  const milliseconds = performance.now() - start;
  const { distanceComputations } = await docs.stats();
  const { engineBytes } = await db.info();
  await db.close();
  return { milliseconds, open: opened - start, found: hits.map(({ id }) => id).join(), distanceComputations, engineBytes };
}

/** Flushes one changed row, again and again: milliseconds and bytes written each time. */
async function changeRows({ module, storage, query, rounds }) {
  /** The stored files with what changes when they are written again. */
  const stored = async () => {
    const files = new Map();
    if (storage === 'opfs') {
      const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('nearfield');
      for await (const handle of (await root.getDirectoryHandle('store-bench')).values()) {
        const { size, lastModified } = await handle.getFile();
        if (size > 0) files.set(`${handle.name} ${lastModified} ${size}`, size);
      }
      return files;
    }
    const answer = (request) =>
      new Promise((done, failed) => {
        request.onsuccess = () => done(request.result);
        request.onerror = () => failed(request.error);
      });
    const connection = await answer(indexedDB.open('/nearfield/bench'));
    const store = connection.transaction('FILE_DATA').objectStore('FILE_DATA');
    const keys = await answer(store.getAllKeys());
    for (const key of keys) {
      const { timestamp, contents } = await answer(store.get(key));
      if (contents) files.set(`${key} ${timestamp.getTime()}`, contents.length);
    }
    connection.close();
    return files;
  };
  const { open } = await import(module);
  const db = await open('bench', { storage });
  const docs = await db.collection('docs');
  const changes = [];
  for (let round = 0; round < rounds; ++round) {
    const before = await stored();
    await docs.upsert([{ id: `row ${round * 7}`, vector: query.map((value) => value + round / 100) }]);
    const start = performance.now();
    await db.flush();
    const milliseconds = performance.now() - start;
    const after = await stored();
    const sum = (sizes) => sizes.reduce((total, size) => total + size, 0);
    const written = [...after].filter(([file]) => !before.has(file)).map(([, size]) => size);
    changes.push({ milliseconds, written: sum(written), stored: sum([...after.values()]) });
  }
  await db.close();
  return changes;
}

/** What an opening is made of, each part alone. */
async function parts({ module, storage }) {
  const { open } = await import(module);
  const boot = performance.now();
  const db = await open('boot', { storage: 'memory' });
  const booted = performance.now();
  await db.close();

  const readIndexedDb = async () => {
    const answer = (request) =>
      new Promise((done, failed) => {
        request.onsuccess = () => done(request.result);
        request.onerror = () => failed(request.error);
      });
    const connection = await answer(indexedDB.open('/nearfield/bench'));
    const store = connection.transaction('FILE_DATA').objectStore('FILE_DATA');
    const keys = await answer(store.getAllKeys());
    const entries = await Promise.all(keys.map((key) => answer(store.get(key))));
    connection.close();
    return entries.flatMap(({ contents }) => contents ?? []);
  };
  if (storage === 'opfs') {
    const timed = async () => {
      const read = performance.now();
      const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('nearfield');
      const handles = [];
      for await (const file of (await root.getDirectoryHandle('store-bench')).values()) handles.push(await file.createSyncAccessHandle());
      const bytes = handles.reduce((sum, handle) => sum + handle.getSize(), 0);
      const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536) });
      const readAll = () => {
        let at = 0;
        for (const handle of handles) at += handle.read(new Uint8Array(memory.buffer, at, handle.getSize()), { at: 0 });
      };
      readAll();
      const arrived = performance.now();
      readAll();
      const again = performance.now();
      const entries = handles.filter((handle) => handle.getSize() > 0).length;
      for (const handle of handles) handle.close();
      postMessage({ read: arrived - read, copy: again - arrived, bytes, entries });
    };
    const worker = new Worker(URL.createObjectURL(new Blob([`(${timed})()`])));
    const split = await new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
    worker.terminate();
    return { boot: booted - boot, ...split };
  }
  const read = performance.now();
  const contents = await readIndexedDb();
  const arrived = performance.now();

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

async function measure({ rounds, rows, dists, set, storage }) {
  const prepared = describe(set);
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
    const { query, ...built } = await inPage(buildStore, { module: modules[0], storage, rows: count, dimensions, source });
    const openings = modules.map(() => []);
    const split = [];
    let expected;
    for (let round = 0; round < rounds; ++round) {
      // Every second round goes the other way, so that none is always the first.
      const order = modules.map((_, i) => (round % 2 ? modules.length - 1 - i : i));
      for (const i of order) {
        const opening = await inPage(openStore, { module: modules[i], storage, query });
        expected ??= opening.found;
        if (opening.found !== expected) throw new StepError(`${dists[i]} finds ${opening.found}, not ${expected}`);
        openings[i].push(opening);
      }
      split.push(await inPage(parts, { module: modules[0], storage }));
    }
    const changes = await inPage(changeRows, { module: modules[0], storage, query, rounds });
    const all = (name) => split.map((part) => part[name]);
    return {
      set: prepared ? set : 'random',
      storage,
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
        without_search_ms: median(list.map(({ open }) => open)),
        engine_bytes: list[0].engineBytes,
        distance_computations: list[0].distanceComputations,
      })),
      one_row: {
        flush_ms: { median: median(changes.map(({ milliseconds }) => milliseconds)), all: changes.map(({ milliseconds }) => milliseconds) },
        written_bytes: median(changes.map(({ written }) => written)),
        stored_bytes: median(changes.map(({ stored }) => stored)),
      },
      parts: {
        engine_boot_ms: { median: median(all('boot')), all: all('boot') },
        read_ms: { median: median(all('read')), all: all('read') },
        // IndexedDB: what was read, copied into memory that nobody used yet. OPFS: read once more, over the first reading.
        copy_ms: { median: median(all('copy')), all: all('copy') },
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
  const { parts: split, one_row } = result;
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(`${result.set}: ${result.rows} x ${result.dimensions} in ${result.storage}; engine ${result.variant}, kernels ${result.kernels}`);
  console.log(`  stored             ${megabytes(result.bytes)} in ${result.entries} entries`);
  console.log(`  build              ${ms(result.build_ms)}`);
  console.log(`  flush              ${ms(result.flush_ms)}`);
  for (const { dist, median_ms, all_ms, engine_bytes } of result.open) {
    console.log(`  open, first answer ${ms(median_ms)}   (${list(all_ms)}; engine ${megabytes(engine_bytes)})${result.open.length > 1 ? ` ${dist}` : ''}`);
    if (dist !== result.open[0].dist) {
      console.log(`                     ${(median_ms / result.open[0].median_ms).toFixed(3)} of the first`);
    }
  }
  const share = one_row.written_bytes / one_row.stored_bytes;
  console.log(`  flush of one row   ${one_row.flush_ms.median.toFixed(1)} ms   (${list(one_row.flush_ms.all)}); ${one_row.written_bytes} bytes, ${(share * 100).toFixed(2)} % of what is stored`);
  console.log('Each part alone:');
  console.log(`  engine, in memory  ${ms(split.engine_boot_ms.median)}   (${list(split.engine_boot_ms.all)})`);
  const copied = result.storage === 'opfs' ? 'read once more    ' : 'first copy        ';
  console.log(`  storage, read      ${ms(split.read_ms.median)}   (${list(split.read_ms.all)})`);
  console.log(`  ${copied} ${ms(split.copy_ms.median)}   (${list(split.copy_ms.all)})`);
}

await main(async () => {
  const options = parse();
  const result = await measure(options);
  if (options.json) console.log(JSON.stringify(result, null, 2));
  else print(result);
});
