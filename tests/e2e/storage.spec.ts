// What a page keeps, in IndexedDB and in OPFS: reloads, killed tabs, refused storage.
import { expect, test, type Page } from '@playwright/test';
import { generator } from '../web/random.ts';
import { endSites, load as loadSite, serveBlank } from './site.ts';
import type * as Nearfield from 'nearfield';

let blank: string;
test.beforeAll(async () => {
  blank = await serveBlank();
});
test.afterAll(endSites);

const load = (page: Page, site = blank): Promise<void> => loadSite(page, site);

const storages = ['indexeddb', 'opfs'] as const;

declare global {
  interface Window {
    acknowledge(batch: number): Promise<void>;
  }
}

/**
 * Opens a store in a worker that runs some code before the engine's, stores a record of an id, flushes, and closes it.
 * Tells what came of it.
 */
async function openAfter(
  page: Page,
  code: string,
  name: string,
  options: { storage: Nearfield.StorageChoice },
  id?: number,
): Promise<{ storage?: string; warning?: string | undefined; error?: string; count?: number }> {
  return page.evaluate(
    async ({ code, name, options, id }) => {
      const first = `data:text/javascript,${encodeURIComponent(code)}`;
      const whole = `import '${first}'; import '${location.origin}/nearfield/worker.js';`;
      const address = URL.createObjectURL(new Blob([whole], { type: 'text/javascript' }));
      const worker = new Worker(address, { type: 'module' });
      try {
        const db = await window.nearfield.open(name, { ...options, worker });
        const { storage, warning } = db;
        const docs = await db.collection('docs', { dimensions: 2 });
        if (id !== undefined) await docs.upsert([{ id, vector: [1, 2] }]);
        await db.flush();
        await db.flush();
        const count = await docs.count();
        await db.close();
        return { storage, warning, count };
      } catch (error) {
        worker.terminate();
        return { error: (error as Nearfield.NearfieldError).code };
      }
    },
    { code, name, options, id },
  );
}

for (const isolated of [true, false]) {
  test(`OPFS, ${isolated ? 'with threads' : 'without'}: a reload finds everything, with no distance computed`, async ({ page }) => {
    const site = await serveBlank(isolated);
    const rows = 20_000;
    await load(page, site);
    const before = await page.evaluate(async (rows) => {
      const dimensions = 32;
      const vectors = Float32Array.from({ length: rows * dimensions }, (_, i) => Math.sin(i * i));
      const ids = Array.from({ length: rows }, (_, i) => `row ${i}`);
      const db = await window.nearfield.open('reload', { storage: 'opfs' });
      const docs = await db.collection('docs', { dimensions, fields: { title: 'text' } });
      await docs.upsert({ ids, vectors, metadata: ids.map((title) => ({ title })) });
      await db.flush();
      await docs.delete(['row 7']);
      await docs.upsert([{ id: 'row 8', vector: vectors.slice(0, dimensions), metadata: { title: 'changed' } }]);
      await db.flush();
      const hits = await docs.searchMany({ vectors: vectors.slice(0, 50 * dimensions), k: 10, include: ['metadata', 'vector'] });
      const { variant } = await db.info();
      return { storage: db.storage, variant, hits: JSON.stringify(hits), options: docs.options };
    }, rows);
    expect(before.storage).toBe('opfs');
    expect(before.variant.endsWith('-threads')).toBe(isolated);
    await load(page, site);
    const after = await page.evaluate(async () => {
      const dimensions = 32;
      const db = await window.nearfield.open('reload', { storage: 'opfs' });
      const docs = await db.collection('docs');
      const stats = await docs.stats();
      const vectors = Float32Array.from({ length: 50 * dimensions }, (_, i) => Math.sin(i * i));
      const hits = await docs.searchMany({ vectors, k: 10, include: ['metadata', 'vector'] });
      const texts = await docs.search({ text: 'changed' });
      const copy = await window.nearfield.open('copy', { storage: 'opfs', from: new Blob([(await db.export()) as BlobPart]) });
      const copied = await (await copy.collection('docs')).count();
      return { stats, hits: JSON.stringify(hits), options: docs.options, texts: texts.map(({ id }) => id), copied };
    });
    expect(after.stats).toMatchObject({ count: rows - 1, distanceComputations: 0 });
    expect(after.hits).toBe(before.hits);
    expect(after.options).toEqual(before.options);
    expect(after.texts).toEqual(['row 8']);
    expect(after.copied).toBe(rows - 1);
  });
}

for (const storage of storages) {
  test(`${storage}: the synchronous engine in a worker of one’s own, with flushes that overlap`, async ({ page }) => { // c24
    await load(page);
    const found = await page.evaluate(async (storage) => {
      const code = `
        import { open } from '${location.origin}/nearfield/sync.js';
        const db = await open('sync', { storage: '${storage}' });
        const docs = db.collection('docs', { dimensions: 2 });
        const flushes = [];
        for (let id = 0; id < 20; ++id) {
          docs.upsert([{ id, vector: [id, 1] }]);
          flushes.push(db.flush());
        }
        await Promise.all(flushes);
        await db.close();
        const again = await open('sync', { storage: '${storage}' });
        postMessage([again.storage, again.collection('docs').count()]);
        await again.close();`;
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })), { type: 'module' });
      return new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data as unknown);
        worker.onerror = ({ message }) => reject(new Error(message));
      });
    }, storage);
    expect(found).toEqual([storage, 20]);
  });
}

test('OPFS: many flushes leave few files, and give back what they do not need', async ({ page }) => {
  await load(page);
  const { files, bytes, count } = await page.evaluate(async () => {
    const db = await window.nearfield.open('flushes', { storage: 'opfs' });
    const docs = await db.collection('docs', { dimensions: 100 });
    for (let round = 0; round < 200; ++round) {
      await docs.upsert(Array.from({ length: 20 }, (_, i) => ({ id: (round * 7 + i) % 100, vector: new Float32Array(100).fill(round + i) })));
      await db.flush();
    }
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('nearfield');
    let files = 0;
    let bytes = 0;
    for await (const handle of (await root.getDirectoryHandle('store-flushes')).values()) {
      files += 1;
      bytes += (await (handle as FileSystemFileHandle).getFile()).size;
    }
    return { files, bytes, count: await docs.count() };
  });
  expect(count).toBe(100);
  expect(files).toBeLessThan(80);
  expect(bytes).toBeLessThan(2_000_000);
});

for (const storage of storages) {
  test(`${storage}: a tab that is killed while it flushes loses nothing that was acknowledged`, async ({ context }) => { // c21, c23
    const rounds = 8;
    const next = generator(storage === 'opfs' ? 1 : 2);
    let acknowledged = 0;
    let twoFlushed: () => void;
    let flushed = 0;
    await context.exposeFunction('acknowledge', (batch: number) => {
      acknowledged = batch;
      if (++flushed === 2) twoFlushed();
    });
    for (let round = 0; round <= rounds; ++round) {
      const page = await context.newPage();
      await load(page);
      const stored = await page.evaluate(async (storage) => {
        const db = (window.db = await window.nearfield.open('killed', { storage }));
        const docs = await db.collection<number>('docs', { dimensions: 64 });
        const records = await docs.get(Array.from({ length: 300 }, (_, i) => i));
        return { batches: [...new Set(records.map((record) => record?.metadata ?? 0))], warning: db.warning };
      }, storage);
      // Every batch writes all rows anew: one that is there in part shows as two.
      expect(stored).toEqual({ batches: [expect.any(Number)], warning: undefined });
      expect(stored.batches[0]).toBeGreaterThanOrEqual(acknowledged);
      if (round === rounds) break;
      flushed = 0;
      const running = new Promise<void>((resolve) => (twoFlushed = resolve));
      void page
        .evaluate(async (from) => {
          const docs = await window.db.collection<number>('docs');
          for (let batch = from; ; ++batch) {
            const vectors = new Float32Array(300 * 64).fill(batch);
            await docs.upsert({ ids: Array.from({ length: 300 }, (_, i) => i), vectors, metadata: Array<number>(300).fill(batch) });
            await window.db.flush();
            await window.acknowledge(batch);
          }
        }, stored.batches[0] as number + 1)
        .catch(() => {}); // the page is gone
      await running;
      await new Promise((resolve) => setTimeout(resolve, next() * 50));
      const crashed = page.waitForEvent('crash');
      const browser = await context.newCDPSession(page);
      void browser.send('Page.crash').catch(() => {});
      await crashed;
      await page.close();
    }
    expect(acknowledged).toBeGreaterThanOrEqual(2 * rounds);
  });

  test(`${storage}: a browser that refuses it gets a store in memory, which says so`, async ({ page }) => {
    await load(page);
    const refuse = {
      indexeddb: 'IDBFactory.prototype.open = () => { throw new DOMException("no", "SecurityError"); };',
      opfs: 'StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException("no", "SecurityError"));',
    };
    const opened = await openAfter(page, refuse[storage], 'refused', { storage });
    expect(opened).toMatchObject({ storage: 'memory', count: 0 });
    expect(opened.warning).toContain('memory');
  });

  test(`${storage}: a full quota is an error that leaves the old state stored and the new one searchable`, async ({ page }) => { // c21, c26
    // Set before the first writing: Chromium remembers for a while how much room it found.
    const browser = await page.context().newCDPSession(page);
    const origin = new URL(blank).origin;
    await browser.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 3 << 20 });
    await load(page);
    await page.evaluate(async (storage) => {
      const db = await window.nearfield.open('full', { storage });
      const docs = await db.collection('docs', { dimensions: 64 });
      await docs.upsert([{ id: 'old', vector: new Float32Array(64).fill(1), metadata: 'old' }]);
      await db.close();
    }, storage);
    const full = await page.evaluate(async (storage) => {
      const db = await window.nearfield.open('full', { storage });
      const docs = await db.collection('docs');
      const rows = 20_000;
      const vectors = Float32Array.from({ length: rows * 64 }, (_, i) => Math.sin(i * i));
      const ids = Array.from({ length: rows }, (_, i) => i);
      const adding = docs.upsert({ ids, vectors, metadata: ids });
      const code = await db.flush().then(() => 'stored', (error: Nearfield.NearfieldError) => error.code);
      const [hit] = await docs.search({ vector: vectors.slice(64, 128), k: 1, exact: true });
      void adding.catch(() => {});
      return { code, hit: hit?.id, count: await docs.count() };
    }, storage);
    expect(full).toEqual({ code: 'QUOTA', hit: 1, count: 20_001 });
    await load(page);
    const kept = await page.evaluate(async (storage) => {
      const db = await window.nearfield.open('full', { storage, readOnly: true });
      const docs = await db.collection('docs');
      return { count: await docs.count(), metadata: (await docs.get('old'))?.metadata };
    }, storage);
    expect(kept).toEqual({ count: 1, metadata: 'old' });
    await browser.send('Storage.overrideQuotaForOrigin', { origin });
  });

  test(`${storage}: a second tab is refused, may read, and gets its turn`, async ({ page, context }) => { // c22
    await load(page);
    await page.evaluate(async (storage) => {
      const db = await window.nearfield.open('shared', { storage });
      await (await db.collection('docs', { dimensions: 1 })).upsert([{ id: 1, vector: [1] }]);
      await db.flush();
    }, storage);
    const other = await context.newPage();
    await load(other);
    const tried = await other.evaluate(async (storage) => {
      const refused = await window.nearfield.open('shared', { storage }).catch((error: Nearfield.NearfieldError) => error.code);
      const reader = await window.nearfield.open('shared', { storage, readOnly: true });
      const count = await (await reader.collection('docs')).count();
      const exported = (await reader.export()).length;
      await reader.close();
      return { refused, count, exported: exported > 0 };
    }, storage);
    expect(tried).toEqual({ refused: 'LOCKED', count: 1, exported: true });
    await page.close();
    const count = await other.evaluate(async (storage) => {
      const db = await window.nearfield.open('shared', { storage });
      const docs = await db.collection('docs');
      await docs.upsert([{ id: 2, vector: [2] }]);
      return docs.count();
    }, storage);
    expect(count).toBe(2);
  });
}

for (const storage of storages) {
  test(`${storage}: what the browser estimates to be too much is not begun`, async ({ page }) => { // c26
    await load(page);
    expect(await openAfter(page, '', 'estimated', { storage })).toMatchObject({ storage });
    const little = 'StorageManager.prototype.estimate = () => Promise.resolve({ quota: 1000, usage: 900 });';
    expect(await openAfter(page, little, 'estimated', { storage }, 1)).toEqual({ error: 'QUOTA' });
    expect(await openAfter(page, '', 'estimated', { storage })).toMatchObject({ count: 0 });
  });
}

test('IndexedDB: a connection that the browser closed is opened again', async ({ page }) => {
  await load(page);
  // Closed before each of its transactions in turn: those of opening, of reading what is there, and of writing.
  for (let which = 1; which <= 8; ++which) {
    const closing = `
      const { prototype } = IDBDatabase;
      const { transaction } = prototype;
      let made = 0;
      prototype.transaction = function (...args) {
        if (++made === ${which} && made > 1) this.close();
        return transaction.apply(this, args);
      };`;
    expect(await openAfter(page, closing, 'closed', { storage: 'indexeddb' }, which)).toMatchObject({ count: which });
    expect(await openAfter(page, '', 'closed', { storage: 'indexeddb' })).toMatchObject({ count: which });
  }
});

test('IndexedDB: when the site’s data is cleared, a flush fails and the store can still be searched', async ({ page }) => {
  await load(page);
  await page.evaluate(async () => {
    window.db = await window.nearfield.open('cleared');
    await (await window.db.collection('docs', { dimensions: 2 })).upsert([{ id: 1, vector: [1, 2] }]);
    await window.db.flush();
  });
  const browser = await page.context().newCDPSession(page);
  await browser.send('Storage.clearDataForOrigin', { origin: new URL(blank).origin, storageTypes: 'indexeddb' });
  const after = await page.evaluate(async () => {
    const docs = await window.db.collection('docs');
    await docs.upsert([{ id: 2, vector: [2, 1] }]);
    const flush = (): Promise<string> =>
      window.db.flush().then(() => 'stored', (error: Nearfield.NearfieldError) => error.code);
    const codes = [await flush(), await flush()];
    const hits = await docs.search({ vector: [1, 2] });
    return { codes, hits: hits.map(({ id }) => id) };
  });
  expect(after).toEqual({ codes: ['IO', 'IO'], hits: [1, 2] });
  await load(page);
  expect(await openAfter(page, '', 'cleared', { storage: 'indexeddb' })).toMatchObject({ count: 0 });
});

test('OPFS: needs a worker; reading what is not there makes nothing', async ({ page }) => {
  await load(page);
  const found = await page.evaluate(async () => {
    const tried = async (options: Nearfield.OpenOptions): Promise<string> => {
      const opening = window.nearfield.open('nothing', { storage: 'opfs', ...options });
      return opening.then(() => 'opened', (error: Nearfield.NearfieldError) => error.code);
    };
    const codes = [await tried({ worker: false }), await tried({ readOnly: true })];
    const folders: string[] = [];
    for await (const name of (await navigator.storage.getDirectory()).keys()) folders.push(name);
    return { codes, folders };
  });
  expect(found).toEqual({ codes: ['UNSUPPORTED', 'NOT_FOUND'], folders: [] });
});

test('OPFS: opening waits for a worker that lets its handle go, and a failed one leaves no lock', async ({ page }) => { // c27
  await load(page);
  const counts = await page.evaluate(async () => {
    const db = await window.nearfield.open('held', { storage: 'opfs' });
    await (await db.collection('docs', { dimensions: 2 })).upsert([{ id: 1, vector: [1, 2] }]);
    await db.close();
    // Of the store's files, whichever comes first.
    const holder = new Worker(
      URL.createObjectURL(
        new Blob(
          [
            `(async () => {
               const root = await navigator.storage.getDirectory();
               const folder = await (await root.getDirectoryHandle('nearfield')).getDirectoryHandle('store-held');
               const { value } = await folder.values().next();
               const handle = await value.createSyncAccessHandle();
               onmessage = () => handle.close();
               postMessage('held');
             })();`,
          ],
          { type: 'text/javascript' },
        ),
      ),
    );
    await new Promise((resolve) => (holder.onmessage = resolve));
    const opening = window.nearfield.open('held', { storage: 'opfs' });
    setTimeout(() => holder.postMessage('let go'), 500);
    const again = await opening;
    const count = await (await again.collection('docs')).count();
    await again.close();
    holder.terminate();
    return count;
  });
  expect(counts).toBe(1);
  const failOnce = `
    const { prototype } = FileSystemFileHandle;
    const create = prototype.createSyncAccessHandle;
    prototype.createSyncAccessHandle = function () {
      prototype.createSyncAccessHandle = create;
      return Promise.reject(new DOMException('once', 'UnknownError'));
    };`;
  expect(await openAfter(page, failOnce, 'held', { storage: 'opfs' })).toEqual({ error: 'IO' });
  expect(await openAfter(page, '', 'held', { storage: 'opfs' })).toMatchObject({ storage: 'opfs', count: 1 });
});
