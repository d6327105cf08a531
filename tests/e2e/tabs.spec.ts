// Several tabs that share a store: one writes for all, and another goes on when it closes or dies.
import { expect, test, type BrowserContext, type Page } from '@playwright/test';
import { endSites, load as loadSite, serveBlank } from './site.ts';
import type * as Nearfield from 'nearfield';

let blank: string;
test.beforeAll(async () => {
  blank = await serveBlank();
});
test.afterAll(endSites);

declare global {
  interface Window {
    docs: Nearfield.Collection<number>;
  }
}

type Storage = 'indexeddb' | 'opfs';
const storages: readonly Storage[] = ['indexeddb', 'opfs'];

/** A tab that has the store of this name open, shared. */
async function open(context: BrowserContext, name: string, storage: Storage): Promise<Page> {
  const page = await context.newPage();
  await loadSite(page, blank);
  await page.evaluate(
    async ({ name, storage }) => {
      window.db = await window.nearfield.open(name, { storage, shared: true });
      window.docs = await window.db.collection<number>('docs', { dimensions: 2, metric: 'l2' });
    },
    { name, storage },
  );
  return page;
}

const count = (page: Page): Promise<number> => page.evaluate(() => window.docs.count());

/** Stores records of these ids, each by a call of its own. */
const write = (page: Page, from: number, rows: number): Promise<void> =>
  page.evaluate(
    async ({ from, rows }) => {
      for (let id = from; id < from + rows; ++id) await window.docs.upsert([{ id, vector: [id, 1], metadata: id }]);
    },
    { from, rows },
  );

/** Ends a tab's process at once. */
async function kill(page: Page): Promise<void> {
  const crashed = page.waitForEvent('crash');
  const browser = await page.context().newCDPSession(page);
  void browser.send('Page.crash').catch(() => {});
  await crashed;
}

for (const storage of storages) {
  test(`${storage}: two tabs write 1,000 records each at once; all are in both, and there after a reload`, async ({ context }) => { // c22
    const [first, second] = [await open(context, 'both', storage), await open(context, 'both', storage)];
    await Promise.all([write(first, 0, 1000), write(second, 1000, 1000)]);
    expect([await count(first), await count(second)]).toEqual([2000, 2000]);
    const found = (page: Page): Promise<Nearfield.SearchHit<number>[][]> =>
      page.evaluate(() => window.docs.searchMany({ vectors: [[3, 1], [1500, 1]], k: 3, include: ['metadata'] }));
    expect(await found(first)).toEqual(await found(second));
    await second.evaluate(() => window.db.flush());
    await Promise.all([first.close(), second.close()]);
    const again = await open(context, 'both', storage);
    expect(await count(again)).toBe(2000);
    expect((await found(again)).map(([hit]) => hit?.metadata)).toEqual([3, 1500]);
  });

  test(`${storage}: when the writing tab is killed, another goes on and nothing acknowledged is lost`, async ({ context }) => {
    const tabs = [await open(context, 'killed', storage), await open(context, 'killed', storage), await open(context, 'killed', storage)] as const;
    const [writer, second, third] = tabs;
    await write(writer, 0, 10);
    await writer.evaluate(() => window.db.flush());
    // Not flushed: these tabs still have them. The second one will write, and sends its own first.
    await write(second, 10, 10);
    await third.evaluate(() => window.docs.upsert([{ id: 'last', vector: [0, 0], metadata: 3 }]));
    await second.evaluate(() => window.docs.upsert([{ id: 'last', vector: [0, 0], metadata: 2 }]));
    // Under way while the writer dies.
    const writing = write(third, 20, 500);
    await kill(writer);
    const start = Date.now();
    await write(second, 1000, 1);
    expect(Date.now() - start).toBeLessThan(2000);
    await writing;
    expect([await count(second), await count(third)]).toEqual([522, 522]);
    expect(await second.evaluate(async () => (await window.docs.get('last'))?.metadata)).toBe(2);
    await third.evaluate(() => window.db.flush());
    await kill(second);
    expect(await count(third)).toBe(522);
    await third.close();
    const again = await open(context, 'killed', storage);
    expect(await count(again)).toBe(522);
  });

  test(`${storage}: when the writing tab closes the store, another goes on`, async ({ context }) => {
    const [first, second] = [await open(context, 'closed', storage), await open(context, 'closed', storage)];
    await write(first, 0, 10);
    const writing = write(second, 10, 300);
    await first.evaluate(() => window.db.close());
    await writing;
    expect(await count(second)).toBe(310);
    await second.evaluate(() => window.db.close());
    const exclusive = await first.evaluate(async (storage) => {
      const db = await window.nearfield.open('closed', { storage });
      const rows = await (await db.collection('docs')).count();
      await db.close();
      return rows;
    }, storage);
    expect(exclusive).toBe(310);
  });
}

test('what one tab flushed is not undone by what another one had written before', async ({ context }) => {
  const [writer, first, second] = [await open(context, 'order', 'opfs'), await open(context, 'order', 'opfs'), await open(context, 'order', 'opfs')];
  await first.evaluate(() => window.docs.upsert([{ id: 1, vector: [1, 1], metadata: 1 }]));
  await second.evaluate(async () => {
    await window.docs.upsert([{ id: 1, vector: [2, 2], metadata: 2 }]);
    await window.db.close();
  });
  await kill(writer);
  expect(await first.evaluate(async () => (await window.docs.get(1))?.metadata)).toBe(2);
});

test('progress, errors, cancelling and exports go through the writing tab', async ({ context }) => {
  const writer = await open(context, 'calls', 'indexeddb');
  const other = await open(context, 'calls', 'indexeddb');
  const told = await other.evaluate(async () => {
    const phases = new Set<string>();
    const many = await window.db.collection('many', { dimensions: 16 });
    const ids = Array.from({ length: 5000 }, (_, i) => i);
    const vectors = Float32Array.from({ length: 5000 * 16 }, (_, i) => Math.sin(i * i));
    await many.upsert({ ids, vectors }, { onProgress: ({ phase }) => phases.add(phase) });
    const code = (work: Promise<unknown>): Promise<string> =>
      work.then(() => 'done', (error: Nearfield.NearfieldError) => error.code);
    const stopping = new AbortController();
    const cancelled = many.upsert({ ids: ids.map((id) => id + 5000), vectors }, { signal: stopping.signal, onProgress: ({ phase }) => phase === 'linking' && stopping.abort() });
    const codes = [await code(cancelled), await code(window.db.drop('nothing')), await code(window.db.collection('docs', { dimensions: 3 }))];
    const copy = await window.nearfield.open('copy', { storage: 'memory', from: await window.db.export() });
    return { phases: [...phases], codes, collections: await window.db.collections(), copied: await (await copy.collection('many')).count() };
  });
  expect(told.phases).toEqual(expect.arrayContaining(['storing', 'linking']));
  expect(told.codes).toEqual(['ABORTED', 'NOT_FOUND', 'OPTIONS_MISMATCH']);
  expect(told.collections).toEqual(['docs', 'many']);
  expect(told.copied).toBe(10_000);
  expect(await writer.evaluate(() => window.db.collections())).toEqual(['docs', 'many']);
});

test('a tab that wants the store for itself is refused, and the other way round', async ({ context }) => {
  const sharing = await open(context, 'mixed', 'indexeddb');
  const other = await context.newPage();
  await loadSite(other, blank);
  const tried = (page: Page, options: Nearfield.OpenOptions): Promise<string> =>
    page.evaluate(
      (options) =>
        window.nearfield.open('mixed', options as Nearfield.OpenOptions).then(
          (db) => {
            window.db = db;
            return 'opened';
          },
          (error: Nearfield.NearfieldError) => error.code,
        ),
      options as object,
    );
  expect(await tried(other, {})).toBe('LOCKED');
  await sharing.evaluate(() => window.db.close());
  expect(await tried(other, {})).toBe('opened');
  expect(await tried(sharing, { shared: true })).toBe('LOCKED');
  await other.evaluate(() => window.db.close());
  expect(await tried(sharing, { shared: true })).toBe('opened');
  expect(await tried(sharing, { shared: true, readOnly: true })).toBe('INVALID_ARGUMENT');
  expect(await tried(sharing, { shared: true, storage: 'memory' })).toBe('UNSUPPORTED');
  expect(await tried(sharing, { shared: true, worker: false })).toBe('UNSUPPORTED');
});
