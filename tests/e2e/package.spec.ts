// The package in Chromium: what IndexedDB keeps, and the examples as a user builds them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { exampleCopy, pack, type Packed } from '../package/packed.ts';
import { native } from '../web/program.ts';
import { generator, randomVectors } from '../web/random.ts';
import { blankFolder, dist, endSites, load as loadSite, serve, serveBlank } from './site.ts';
// Types only: the page imports the built package from the server.
import type * as Nearfield from 'nearfield';

let blank: string;
test.beforeAll(async () => {
  blank = await serveBlank();
});
test.afterAll(endSites);

const load = (page: Page, site = blank): Promise<void> => loadSite(page, site);

test.describe('IndexedDB', () => {
  test('a reload finds everything, in parts of bounded size and with no distance computed', async ({ page }) => { // c14, c17, c20
    const rows = 50_000;
    const queries = 1000;
    await load(page);
    const before = await page.evaluate(
      async ({ rows, queries }) => {
        const dimensions = 100;
        let state = 1;
        const random = (): number => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) - 0.5;
        const vectors = Float32Array.from({ length: rows * dimensions }, random);
        const ids = Array.from({ length: rows }, (_, i) => `word ${i}`);
        const db = await window.nearfield.open('reload');
        const words = await db.collection('words', { dimensions, m: 12 });
        await words.upsert({ ids, vectors, metadata: ids });
        await db.flush();
        const asked = vectors.slice(0, queries * dimensions).map((value) => value + random() / 2);
        const hits = await words.searchMany({ vectors: asked, k: 10, include: ['metadata'] });
        return { hits, storage: db.storage, options: words.options, asked: [...asked] };
      },
      { rows, queries },
    );
    expect(before.storage).toBe('indexeddb');
    expect(before.hits.map((list) => list.length)).toEqual(Array<number>(queries).fill(10));
    await load(page);
    const sizes = await page.evaluate(async () => {
      const answer = <T>(request: IDBRequest<T>): Promise<T> =>
        new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
      const connection = await answer(indexedDB.open('/nearfield/reload'));
      const entries = (await answer(connection.transaction('FILE_DATA').objectStore('FILE_DATA').getAll())) as { contents?: unknown }[];
      connection.close();
      return entries.map(({ contents }) => (contents instanceof Uint8Array ? contents.length : -1));
    });
    expect(sizes.length).toBeGreaterThan(2);
    for (const size of sizes) expect(size).toBeGreaterThan(0);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16 << 20);
    const after = await page.evaluate(async (asked) => {
      const db = await window.nearfield.open('reload');
      const words = await db.collection('words');
      const stats = await words.stats();
      const hits = await words.searchMany({ vectors: new Float32Array(asked), k: 10, include: ['metadata'] });
      return { hits, stats, options: words.options };
    }, before.asked);
    expect(after.stats).toMatchObject({ count: rows, linked: rows, distanceComputations: 0 });
    expect(after.options).toEqual(before.options);
    expect(after.hits).toEqual(before.hits);
  });

  test('the page may be left at once after a flush', async ({ page }) => { // c23
    await load(page);
    await page.evaluate(async () => {
      const db = await window.nearfield.open('left');
      const docs = await db.collection('docs', { dimensions: 2 });
      await docs.upsert([{ id: 'a', vector: [1, 2], metadata: { deep: ['é', null] } }]);
      // Not awaited here: the page is gone before it could answer.
      void db.flush().then(() => location.replace('about:blank'));
    });
    await page.waitForURL('about:blank');
    await load(page);
    const found = await page.evaluate(async () => {
      const db = await window.nearfield.open('left');
      return (await db.collection('docs')).get('a');
    });
    expect(found?.metadata).toEqual({ deep: ['é', null] });
  });

  test('fields, filters and texts are there after a reload', async ({ page }) => {
    await load(page);
    await page.evaluate(async () => {
      const db = await window.nearfield.open('shop');
      const shop = await db.collection('shop', { dimensions: 2, fields: { title: 'text', tag: 'tag', sku: 'keyword' } });
      await shop.upsert([
        { id: 1, vector: [1, 0], metadata: { title: 'Wireless 😀 earbuds', tag: 'Zürich', sku: 'IT-500' } },
        { id: 2, vector: [0, 1], metadata: { title: '東京タワー', tag: ['travel', 'Zürich'] } },
        { id: 3, vector: [1, 1], metadata: { title: 'Wired', tag: 'travel' } },
      ]);
      await shop.update([{ id: 3, metadata: { title: 'Gone', tag: 'gone' } }]);
      await shop.deleteWhere({ tag: 'gone' });
      await db.flush();
    });
    await load(page);
    const found = await page.evaluate(async () => {
      const db = await window.nearfield.open('shop');
      const shop = await db.collection('shop');
      return {
        fields: await shop.fields(),
        facets: await shop.facets('tag'),
        code: (await shop.search({ text: 'it-500' })).map((hit) => hit.id),
        text: await shop.search({ text: '東京', include: ['highlights'] }),
        both: await shop.explain({ vector: [0, 1], text: 'earbuds', where: { tag: 'Zürich' } }),
      };
    });
    expect(found.fields).toEqual({ title: 'text', tag: 'tag', sku: 'keyword' });
    expect(found.facets).toEqual([{ value: 'Zürich', count: 2 }, { value: 'travel', count: 1 }]);
    expect(found.code).toEqual([1]);
    expect(found.text.map((hit) => [hit.id, hit.highlights])).toEqual([[2, { title: [{ text: '東京タワー', ranges: [[0, 2]] }] }]]);
    expect(found.both).toMatchObject({ plan: 'scan', matches: 2, textMatches: 1 });
    expect(found.both.hits.map((hit) => hit.id)).toEqual([1, 2]);
  });

  test('three stores open at once', async ({ page }) => { // c19
    await load(page);
    const counts = await page.evaluate(async () => {
      const names = ['one', 'two', 'three'];
      const stores = await Promise.all(names.map((name) => window.nearfield.open(name)));
      return Promise.all(
        stores.map(async (db, i) => {
          const docs = await db.collection('docs', { dimensions: 1 });
          await docs.upsert(Array.from({ length: i + 1 }, (_, id) => ({ id, vector: [id] })));
          await db.close();
          const again = await window.nearfield.open(db.name, { readOnly: true });
          return (await again.collection('docs')).count();
        }),
      );
    });
    expect(counts).toEqual([1, 2, 3]);
  });

  test('changes, deletions and many flushes survive reloads', async ({ page }) => {
    const model = new Map<number, number>();
    for (let round = 0; round < 4; ++round) {
      await load(page);
      const changes = Array.from({ length: 300 }, (_, i) => ({ id: (i * 7 + round * 13) % 500, value: i + round }));
      const gone = Array.from({ length: 40 }, (_, i) => (i * 11 + round) % 500);
      for (const { id, value } of changes) model.set(id, value);
      for (const id of gone) model.delete(id);
      const stored = await page.evaluate(
        async ({ changes, gone }) => {
          const db = await window.nearfield.open('rounds');
          const docs = await db.collection<number>('docs', { dimensions: 2, metric: 'l2' });
          const flushes: Promise<void>[] = [];
          for (const { id, value } of changes) {
            await docs.upsert([{ id, vector: [value, id], metadata: value }]);
            if (id % 50 === 0) flushes.push(db.flush());
          }
          await docs.delete(gone);
          await Promise.all([...flushes, db.flush()]);
          const records = await docs.get(Array.from({ length: 500 }, (_, i) => i));
          return records.map((record) => record?.metadata ?? null);
        },
        { changes, gone },
      );
      expect(stored).toEqual(Array.from({ length: 500 }, (_, i) => model.get(i) ?? null));
    }
  });

  test('a store and the copy made from its export answer alike', async ({ page }) => {
    await load(page);
    const [first, second] = await page.evaluate(async () => {
      const db = await window.nearfield.open('source');
      const docs = await db.collection('docs', { dimensions: 3 });
      await docs.upsert(Array.from({ length: 100 }, (_, id) => ({ id, vector: [id + 1, 1, 2] })));
      await db.flush();
      const copy = await window.nearfield.open('copy', { storage: 'memory', from: new Blob([(await db.export()) as BlobPart]) });
      const query = { vector: [5, 1, 2], k: 3 };
      return [await docs.search(query), await (await copy.collection('docs')).search(query)];
    });
    expect(second).toEqual(first);
  });

  test('without IndexedDB the store is in memory and says so', async ({ page }) => {
    await load(page);
    const { storage, warning } = await page.evaluate(async () => {
      const address = URL.createObjectURL(
        new Blob(
          [
            `import 'data:text/javascript,Object.defineProperty(globalThis, "indexedDB", { value: undefined })';
             import '${location.origin}/nearfield/worker.js';`,
          ],
          { type: 'text/javascript' },
        ),
      );
      const db = await window.nearfield.open('private', { worker: new Worker(address, { type: 'module' }) });
      return { storage: db.storage, warning: db.warning };
    });
    expect(storage).toBe('memory');
    expect(warning).toContain('memory');
  });
});

test.describe('packed stores', () => {
  const dimensions = 24;
  const rows = 3000;
  const queries = 50;
  const k = 10;

  /** An answer as the program prints it: six digits of a distance. */
  type Answer = [id: Nearfield.Id, distance: string];
  const shown = (distance: number): string => String(Number(distance.toPrecision(6)));

  let folder: string;
  test.beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'nearfield-packed-'));
  });
  test.afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** The program prints the answers of five queries at a time. */
  function answersOf(store: string, vectors: Float32Array): Answer[][] {
    const file = join(folder, 'queries.f32');
    const perCall = 5 * dimensions;
    const lists: Answer[][] = [];
    for (let at = 0; at < vectors.length; at += perCall) {
      writeFileSync(file, vectors.subarray(at, at + perCall));
      const table = native('search', store, '--queries', file, '--k', String(k));
      for (const line of table.split('\n')) {
        if (line.startsWith('query ')) lists.push([]);
        const [, distance, id] = /^ +\d+ +(\S+) {2}(.+)$/.exec(line) ?? [];
        if (id !== undefined) lists.at(-1)?.push([JSON.parse(id) as Nearfield.Id, shown(Number(distance))]);
      }
    }
    return lists;
  }

  function writeJsonLines(file: string, vectors: Float32Array): void {
    const line = (_: unknown, i: number): string => {
      const id = i % 3 === 0 ? i : i % 3 === 1 ? `row ${i} é🙂` : String(i);
      const vector = [...vectors.slice(i * dimensions, (i + 1) * dimensions)];
      return JSON.stringify({ id, vector, metadata: { i, text: '東京' } });
    };
    writeFileSync(file, Array.from({ length: rows }, line).join('\n'));
  }

  for (const [format, metric] of [['jsonl', 'cosine'], ['jsonl', 'dot'], ['f32', 'l2']] as const) {
    test(`of the native program, from ${format}, ${metric}: answers and exports are the program's`, async ({ page }) => {
      const next = generator(1);
      const vectors = randomVectors(next, rows, dimensions);
      const asked = randomVectors(next, queries, dimensions);
      const file = join(folder, `rows.${format}`);
      if (format === 'jsonl') writeJsonLines(file, vectors);
      else writeFileSync(file, vectors);
      const store = join(folder, 'store');
      native('import', store, '--from', file, '--dimensions', String(dimensions), '--metric', metric);
      native('pack', store, join(folder, 'packed.nf'));
      const expected = answersOf(store, asked);
      expect(expected.map((list) => list.length)).toEqual(Array<number>(queries).fill(k));

      await load(page, await serve({ '/': blankFolder, '/nearfield/': dist, '/data/': folder }));
      const found = await page.evaluate(
        async ({ asked, k }) => {
          const db = await window.nearfield.open('packed', { from: 'data/packed.nf' });
          const [name = ''] = await db.collections();
          const docs = await db.collection(name);
          const stats = await docs.stats();
          const hits = await docs.searchMany({ vectors: new Float32Array(asked), k });
          const records = await docs.get([0, 'row 1 é🙂', '2']);
          // As base64: an array of numbers crosses slowly.
          const bytes = await db.export();
          let text = '';
          for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
          return { stats, hits, metadata: records.map((record) => record?.metadata), packed: btoa(text), storage: db.storage };
        },
        { asked: [...asked], k },
      );
      expect(found.storage).toBe('indexeddb');
      expect(found.stats).toMatchObject({ count: rows, linked: rows, distanceComputations: 0 });
      if (format === 'jsonl') expect(found.metadata).toEqual([0, 1, 2].map((i) => ({ i, text: '東京' })));
      const answers = found.hits.map((list) => list.map(({ id, distance }): Answer => [id, shown(distance)]));
      expect(answers).toEqual(expected);

      const exported = join(folder, 'exported.nf');
      const copy = join(folder, 'copy');
      writeFileSync(exported, Buffer.from(found.packed, 'base64'));
      native('unpack', exported, copy);
      native('verify', copy);
      expect(answersOf(copy, asked)).toEqual(expected);
    });
  }
});

test.describe('examples', () => {
  let packed: Packed;
  test.beforeAll(() => {
    packed = pack();
  });
  test.afterAll(() => rmSync(packed.folder, { recursive: true, force: true }));

  async function works(page: Page, address: string): Promise<void> {
    await page.goto(address);
    await expect(page.locator('#status')).toHaveText('stored');
    await expect(page.locator('#hits li').first()).toContainText('royalblue');
    await page.reload();
    await expect(page.locator('#status')).toHaveText('found 18 in indexeddb');
    await expect(page.locator('#hits li').first()).toContainText('royalblue');
  }

  test('a page without a bundler', async ({ page }) => {
    await works(page, await serve({ '/': exampleCopy(packed, 'vanilla') }));
  });

  test('vite build', async ({ page }) => { // c42
    const folder = exampleCopy(packed, 'vite', ['vite']);
    const { build } = await import('vite');
    await build({ root: folder, logLevel: 'warn' });
    await works(page, await serve({ '/': join(folder, 'dist') }));
  });

  test('vite dev', async ({ page }) => { // c42
    const folder = exampleCopy(packed, 'vite', ['vite']);
    const { createServer } = await import('vite');
    // Links to this repository's tools lead out of the example's folder.
    const server = await createServer({ root: folder, logLevel: 'warn', server: { port: 0, fs: { strict: false } } });
    await server.listen();
    try {
      await works(page, `http://localhost:${(server.httpServer?.address() as AddressInfo).port}/`);
    } finally {
      await server.close();
    }
  });
});
