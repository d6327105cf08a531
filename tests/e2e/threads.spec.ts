// The engine's builds in Chromium: which one a page gets, and that all of them answer alike.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, type Browser, type Page } from '@playwright/test';
import { root } from '../package/packed.ts';
import { native } from '../web/program.ts';
import { generator, randomVectors } from '../web/random.ts';
import { withWrongRelaxedDot } from '../web/wrong-dot.ts';
import { blankFolder, endSites, serve as serveFolders } from './site.ts';
// Types only: the page imports the built package from the server.
import type * as Nearfield from 'nearfield';

const dimensions = 40;
const rows = 6000;
const vectors = randomVectors(generator(1), rows, dimensions);

let folder: string;
/** A package whose files a test may change. */
let dist: string;

const serve = (isolated = true): Promise<string> =>
  serveFolders({ '/': blankFolder, '/nearfield/': dist, '/data/': folder }, isolated);

test.beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nearfield-threads-'));
  dist = join(folder, 'dist');
  cpSync(join(root, 'dist'), dist, { recursive: true });
  writeFileSync(join(folder, 'rows.f32'), vectors);
});

test.afterEach(() => {
  endSites();
  rmSync(folder, { recursive: true, force: true });
});

interface Asked {
  threads?: number;
  /** The build that is offered; all of them when it is left out. */
  only?: string;
  worker?: string;
}

interface Answered {
  variant: string;
  threads: number;
  hits: unknown;
  /** Of the exported store. */
  hash: string;
}

/** Builds a store in the page and searches it. */
async function answers(page: Page, site: string, asked: Asked = {}): Promise<Answered> {
  await page.goto(site);
  const { bytes, ...rest } = await page.evaluate(
    async ({ asked: { threads, only, worker }, rows, dimensions }) => {
      const { open } = (await import(`${location.origin}/nearfield/index.js`)) as typeof Nearfield;
      const vectors = new Float32Array(await (await fetch('/data/rows.f32')).arrayBuffer());
      const db = await open('threads', {
        storage: 'memory',
        ...(threads === undefined ? {} : { threads }),
        ...(worker === undefined ? {} : { worker }),
        ...(only === undefined ? {} : { wasmUrl: (file) => `/nearfield/${file === only ? file : 'none'}` }),
        ...(only === 'nearfield-simd.wasm' ? { wasmUrl: `/nearfield/${only}` } : {}),
      });
      const docs = await db.collection('default', { dimensions });
      await docs.upsert({ ids: Array.from({ length: rows }, (_, i) => i), vectors });
      const hits = await docs.searchMany({ vectors: vectors.slice(0, 100 * dimensions), k: 10, include: ['vector'] });
      // As base64: an array of numbers crosses slowly.
      const exported = await db.export();
      let bytes = '';
      for (let at = 0; at < exported.length; at += 8192) bytes += String.fromCharCode(...exported.subarray(at, at + 8192));
      const info = await db.info();
      await db.close();
      return { variant: info.variant, threads: info.threads, hits, bytes: btoa(bytes) };
    },
    { asked, rows, dimensions },
  );
  return { ...rest, hash: createHash('sha256').update(Buffer.from(bytes, 'base64')).digest('hex') };
}

/** The same rows, linked by the native program. */
function nativeHash(): string {
  const store = join(folder, 'store');
  const packed = join(folder, 'packed.nf');
  native('import', store, '--from', join(folder, 'rows.f32'), '--dimensions', String(dimensions), '--metric', 'cosine');
  native('pack', store, packed);
  return createHash('sha256').update(readFileSync(packed)).digest('hex');
}

test('every build, with one thread and with many, answers alike and writes the bytes of the native program', async ({ page }) => {
  const site = await serve();
  const hash = nativeHash();
  const first = await answers(page, site, { threads: 1 });
  expect(first).toMatchObject({ variant: 'relaxed', threads: 1, hash });
  for (const [threads, variant] of [[1, 'simd'], [2, 'simd-threads'], [3, 'relaxed-threads'], [5, 'relaxed-threads']] as const) {
    expect(await answers(page, site, { threads, only: `nearfield-${variant}.wasm` })).toEqual({ ...first, variant, threads });
  }
});

test('a page fetches one build', async ({ page }) => {
  const fetched: string[] = [];
  page.context().on('request', (request) => fetched.push(new URL(request.url()).pathname));
  await answers(page, await serve(), { threads: 3 });
  expect(fetched.filter((path) => path.endsWith('.wasm'))).toEqual(['/nearfield/nearfield-relaxed-threads.wasm']);
});

test('a page that is not isolated gets an engine without threads', async ({ page }) => {
  expect(await answers(page, await serve(false), { threads: 3 })).toMatchObject({ variant: 'relaxed', threads: 1 });
});

test('a build that computes wrongly is not used', async ({ page }) => {
  for (const file of ['nearfield-relaxed.wasm', 'nearfield-relaxed-threads.wasm']) withWrongRelaxedDot(join(dist, file));
  const site = await serve();
  expect(await answers(page, site, { threads: 3 })).toMatchObject({ variant: 'simd-threads', threads: 3 });
  expect(await answers(page, site, { threads: 1 })).toMatchObject({ variant: 'simd', threads: 1 });
});

/** A worker whose shared memory is no larger than `pages`. */
function limitedWorker(pages: number): string {
  const limit = `const Whole = WebAssembly.Memory;
    WebAssembly.Memory = function (limits) {
      if (limits.shared && limits.maximum > ${pages}) throw new RangeError('no memory for so many pages');
      return new Whole(limits);
    };
    WebAssembly.Memory.prototype = Whole.prototype;`;
  writeFileSync(join(folder, 'limit.js'), limit);
  writeFileSync(join(folder, 'worker.js'), "import './limit.js';\nimport '/nearfield/worker.js';\n");
  return '/data/worker.js';
}

test('where little memory can be shared, threads share that little', async ({ page }) => {
  const worker = limitedWorker((512 << 20) / (64 << 10));
  expect(await answers(page, await serve(), { threads: 3, worker })).toMatchObject({ variant: 'relaxed-threads', threads: 3 });
});

test('where none can be shared, there are no threads', async ({ page }) => {
  const worker = limitedWorker(100);
  expect(await answers(page, await serve(), { threads: 3, worker })).toMatchObject({ variant: 'relaxed', threads: 1 });
});

test('where workers cannot be started in a worker, the engine works alone', async ({ page }) => {
  writeFileSync(join(folder, 'refuse.js'), "globalThis.Worker = function () { throw new Error('no workers here'); };");
  writeFileSync(join(folder, 'worker.js'), "import './refuse.js';\nimport '/nearfield/worker.js';\n");
  const worker = '/data/worker.js';
  expect(await answers(page, await serve(), { threads: 3, worker })).toMatchObject({ variant: 'relaxed-threads', threads: 1 });
});

async function workers(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { targetInfos } = await session.send('Target.getTargets', { filter: [{ type: 'worker' }] });
  await session.detach();
  return targetInfos.length;
}

for (const ending of ['close', 'abort', 'leave'] as const) {
  test(`threads end with ${ending}`, async ({ page, browser }) => {
    await page.goto(await serve());
    const before = await workers(browser);
    await page.evaluate(
      async ({ ending, rows, dimensions }) => {
        const { open } = (await import(`${location.origin}/nearfield/index.js`)) as typeof Nearfield;
        const db = await open('threads', { storage: 'memory', threads: 4 });
        const docs = await db.collection('docs', { dimensions });
        const vectors = new Float32Array(await (await fetch('/data/rows.f32')).arrayBuffer());
        const stop = new AbortController();
        const options = { signal: stop.signal };
        await docs.upsert({ ids: Array.from({ length: rows }, (_, i) => i), vectors });
        const again = docs.upsert({ ids: Array.from({ length: rows }, (_, i) => rows + i), vectors }, options).catch(() => 0);
        if (ending === 'abort') stop.abort();
        if (ending === 'leave') return;
        await again;
        Object.assign(window, { end: () => db.close() });
      },
      { ending, rows, dimensions },
    );
    expect(await workers(browser)).toBe(before + 4);
    if (ending === 'leave') await page.goto('about:blank');
    else await page.evaluate(() => (window as unknown as { end: () => Promise<void> }).end());
    await expect.poll(() => workers(browser)).toBe(before);
  });
}
