// What the API does, in memory and in a folder.
import { NearfieldError, open, type Database, type OpenOptions, type Progress } from 'nearfield';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { generator, randomVectors } from './random.ts';

async function opened(options: OpenOptions = {}): Promise<Database> {
  const db = await open('test', options);
  onTestFinished(() => db.close());
  return db;
}

const where: Record<string, () => OpenOptions> = {
  'memory, worker': () => ({ storage: 'memory' }),
  'memory, same thread': () => ({ storage: 'memory', worker: false }),
  'folder, worker': () => ({ storage: { folder: temporaryFolder() } }),
  'folder, same thread': () => ({ storage: { folder: temporaryFolder() }, worker: false }),
};

describe.each(Object.entries(where))('%s', (_, options) => {
  test('records come back as they were given', async () => { // c40
    const db = await opened(options());
    const docs = await db.collection<{ title: string }>('docs', { dimensions: 3 });
    const records = [
      { id: 'a', vector: [1, 0, 0], metadata: { title: 'Zürich 東京 🙂' } },
      { id: 7, vector: new Float32Array([0, 1, 0]) },
      { id: '7', vector: [0, 0, 1], metadata: { title: 'a text' } },
      { id: 2n ** 62n, vector: [0.5, 0.5, 0] },
      { id: -5, vector: [0, 0.5, 0.5] },
    ];
    expect(await docs.upsert(records)).toBe(5);
    expect(await docs.count()).toBe(5);
    for (const { id, vector, metadata } of records) {
      const stored = await docs.get(id);
      expect(stored?.id).toBe(id);
      expect([...(stored?.vector ?? [])]).toEqual([...vector]);
      expect(stored?.metadata).toEqual(metadata);
    }
    expect(await docs.get(['nobody', 7])).toMatchObject([undefined, { id: 7 }]);
  });

  test('hits carry id, score and distance, and more when asked', async () => {
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 2 });
    await docs.upsert([
      { id: 'near', vector: [1, 0], metadata: [1, null] },
      { id: 'far', vector: [0, 1] },
    ]);
    const [first, second] = await docs.search({ vector: [2, 0], k: 5 });
    expect(first).toEqual({ id: 'near', score: 1, distance: 0 });
    expect(second).toEqual({ id: 'far', score: 0, distance: 1 });
    const [full] = await docs.search({ vector: [2, 0], k: 1, include: ['metadata', 'vector'] });
    expect(full).toMatchObject({ id: 'near', metadata: [1, null] });
    expect([...(full?.vector ?? [])]).toEqual([1, 0]);
  });

  test('many searches at once answer as one by one', async () => {
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 16, metric: 'l2' });
    const next = generator(1);
    const ids = Array.from({ length: 2000 }, (_, i) => i);
    await docs.upsert({ ids, vectors: randomVectors(next, ids.length, 16) });
    const vectors = randomVectors(next, 5, 16);
    const lists = await docs.searchMany({ vectors, k: 4 });
    for (let i = 0; i < 5; ++i) {
      expect(lists[i]).toEqual(await docs.search({ vector: vectors.slice(i * 16, i * 16 + 16), k: 4 }));
    }
  });

  test('deleting most records gives back their places', async () => {
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 16 });
    const ids = Array.from({ length: 4000 }, (_, i) => i);
    const vectors = randomVectors(generator(2), ids.length, 16);
    await docs.upsert({ ids, vectors });
    expect(await docs.delete(ids.slice(0, 2400))).toBe(2400);
    expect(await docs.stats()).toMatchObject({ count: 1600, rows: 1600, linked: 1600 });
    const [hit] = await docs.search({ vector: vectors.slice(3999 * 16), k: 1 });
    expect(hit?.id).toBe(3999);
  });

  test('compact gives back what a few deletions left, and says how far it is', async () => {
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 16 });
    const ids = Array.from({ length: 3000 }, (_, i) => i);
    const vectors = randomVectors(generator(2), ids.length, 16);
    await docs.upsert({ ids, vectors });
    await docs.delete(ids.slice(0, 100));
    const query = { vector: vectors.slice(2999 * 16), exact: true };
    const before = await docs.search(query);
    expect(await docs.stats()).toMatchObject({ count: 2900, rows: 3000 });
    const told: Progress[] = [];
    await docs.compact({ onProgress: (progress) => void told.push(progress) });
    expect(await docs.stats()).toMatchObject({ count: 2900, rows: 2900, linked: 2900 });
    expect(await docs.search(query)).toEqual(before);
    expect(told.at(-1)).toMatchObject({ phase: 'linking' });
    await expect(docs.compact({ onProgress: 7 as never })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('an empty store opens, answers and grows', async () => { // c12, c13
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 2 });
    expect(await docs.search({ vector: [1, 2] })).toEqual([]);
    expect(await docs.upsert([])).toBe(0);
    expect(await docs.delete([])).toBe(0);
    expect(await docs.get([])).toEqual([]);
    await db.flush();
    expect(await docs.upsert([{ id: 1, vector: [1, 2] }])).toBe(1);
  });

  test('a vector that was handed out keeps its values when the memory grows', async () => { // c28
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 512 });
    const vector = randomVectors(generator(6), 1, 512);
    await docs.upsert([{ id: 'held', vector }]);
    const record = await docs.get('held');
    const [hit] = await docs.search({ vector, k: 1, include: ['vector'] });
    const before = (await db.info()).engineBytes;
    await docs.upsert({ ids: Array.from({ length: 900 }, (_, i) => i), vectors: new Float32Array(900 * 512).fill(1) });
    for (let i = 0; (await db.info()).engineBytes === before && i < 60; ++i) {
      const more = await db.collection(`more ${i}`, { dimensions: 512 });
      await more.upsert({ ids: Array.from({ length: 900 }, (_, id) => id), vectors: new Float32Array(900 * 512).fill(1) });
    }
    expect((await db.info()).engineBytes).toBeGreaterThan(before);
    expect(record?.vector).toEqual(vector);
    expect(hit?.vector).toEqual(vector);
  });

  test('of equal ids in a batch the last wins, and records are replaced', async () => {
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 1, metric: 'l2' });
    expect(await docs.upsert({ ids: [1, 1, 2], vectors: new Float32Array([5, 6, 7]) })).toBe(2);
    expect(await docs.upsert([{ id: 2, vector: [8], metadata: 'new' }])).toBe(0);
    expect([...((await docs.get(1))?.vector ?? [])]).toEqual([6]);
    expect(await docs.get(2)).toMatchObject({ metadata: 'new' });
    expect(await docs.search({ vector: [6], k: 9 })).toMatchObject([{ id: 1 }, { id: 2, distance: 4, score: 0.2 }]);
  });

  test('collections are listed, found, emptied and dropped', async () => {
    const db = await opened(options());
    await db.collection('one', { dimensions: 1 });
    const two = await db.collection('two', { dimensions: 2, metric: 'dot', m: 8 });
    await two.upsert([{ id: 1, vector: [1, 2] }]);
    await two.clear();
    expect(await two.count()).toBe(0);
    expect((await db.collections()).sort()).toEqual(['one', 'two']);
    expect((await db.collection('two')).options).toMatchObject({ dimensions: 2, metric: 'dot', m: 8 });
    await db.drop('one');
    expect(await db.collections()).toEqual(['two']);
    await expect(db.collection('one')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('f16 rounds vectors; what is searched and comes back is the rounded one', async () => {
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 4, metric: 'l2', storage: 'f16' });
    await docs.upsert([{ id: 1, vector: [0.1, -1 / 3, 2049, 1e-8] }]);
    const rounded = [0.0999755859375, -0.333251953125, 2048, 0];
    expect([...((await docs.get(1))?.vector ?? [])]).toEqual(rounded);
    const [hit] = await docs.search({ vector: rounded, include: ['vector'] });
    expect(hit).toMatchObject({ id: 1, distance: 0 });
    expect([...(hit?.vector ?? [])]).toEqual(rounded);
    expect((await db.collection('docs')).options.storage).toBe('f16');
    expect((await db.collection('docs', { storage: 'f16' })).options).toEqual(docs.options);
    await expect(db.collection('docs', { storage: 'f32' })).rejects.toMatchObject({ code: 'OPTIONS_MISMATCH' });
  });

  test('a packed store opens elsewhere', async () => {
    const db = await opened(options());
    const docs = await db.collection('docs', { dimensions: 8 });
    const next = generator(3);
    await docs.upsert({ ids: [1, 'b', 3], vectors: randomVectors(next, 3, 8), metadata: [1, undefined, { x: [] }] });
    const packed = await db.export();
    const copy = await opened({ storage: 'memory', from: packed });
    const same = await copy.collection('docs');
    expect(await same.get([1, 'b', 3])).toEqual(await docs.get([1, 'b', 3]));
    expect(await db.export()).toEqual(packed);
  });
});

describe('a folder', () => {
  test('keeps what was flushed, without a distance computed on opening', async () => {
    const storage = { folder: temporaryFolder() };
    const next = generator(2);
    const query = randomVectors(next, 1, 24);
    let before;
    {
      await using db = await open('x', { storage });
      const docs = await db.collection('docs', { dimensions: 24 });
      const ids = Array.from({ length: 3000 }, (_, i) => `row ${i}`);
      await docs.upsert({ ids, vectors: randomVectors(next, 3000, 24), metadata: ids });
      before = await docs.search({ vector: query, include: ['metadata'] });
    }
    await using db = await open('x', { storage });
    const docs = await db.collection('docs');
    expect(await docs.stats()).toMatchObject({ count: 3000, linked: 3000, distanceComputations: 0 });
    expect(await docs.search({ vector: query, include: ['metadata'] })).toEqual(before);
  });

  test('keeps f16 rows as they are', async () => {
    const storage = { folder: temporaryFolder() };
    const vectors = randomVectors(generator(7), 2000, 24);
    const query = { vector: vectors.slice(0, 24), include: ['vector'] as const };
    let before;
    {
      await using db = await open('x', { storage });
      const docs = await db.collection('docs', { dimensions: 24, storage: 'f16' });
      await docs.upsert({ ids: Array.from({ length: 2000 }, (_, i) => i), vectors });
      before = await docs.search(query);
    }
    await using db = await open('x', { storage });
    const docs = await db.collection('docs');
    expect(docs.options.storage).toBe('f16');
    expect(await docs.stats()).toMatchObject({ linked: 2000, distanceComputations: 0 });
    expect(await docs.search(query)).toEqual(before);
    await expect(db.collection('docs', { storage: 'f32' })).rejects.toMatchObject({ code: 'OPTIONS_MISMATCH' });
  });

  test('that was never saved is empty, and saving works then', async () => { // c18
    const storage = { folder: temporaryFolder() };
    {
      await using none = await open('x', { storage });
      expect(await none.collections()).toEqual([]);
      await expect(none.collection('docs')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await (await none.collection('docs', { dimensions: 1 })).upsert([{ id: 1, vector: [1] }]);
    }
    await using db = await open('x', { storage });
    expect(await (await db.collection('docs')).count()).toBe(1);
  });

  test('opened for reading refuses changes and does not create', async () => {
    const storage = { folder: temporaryFolder() };
    {
      await using db = await open('x', { storage });
      await (await db.collection('docs', { dimensions: 1 })).upsert([{ id: 1, vector: [1] }]);
    }
    await using db = await open('x', { storage, readOnly: true });
    const docs = await db.collection('docs');
    expect(await docs.count()).toBe(1);
    await expect(docs.upsert([{ id: 2, vector: [2] }])).rejects.toMatchObject({ code: 'READ_ONLY' });
    await expect(docs.delete(1)).rejects.toMatchObject({ code: 'READ_ONLY' });
    expect(await docs.count()).toBe(1);
  });
});

describe('long calls', () => {
  const rows = 20_000;
  const dimensions = 64;

  test('tell their progress and answer searches meanwhile', async () => {
    const db = await opened();
    const docs = await db.collection('docs', { dimensions });
    const phases: string[] = [];
    let linked = false;
    const adding = docs
      .upsert(
        { ids: Array.from({ length: rows }, (_, i) => i), vectors: randomVectors(generator(4), rows, dimensions) },
        { onProgress: ({ phase }) => phases.push(phase) },
      )
      .then(() => (linked = true));
    const hits = await docs.search({ vector: new Float32Array(dimensions).fill(1), k: 3 });
    expect(linked).toBe(false);
    expect(hits).toHaveLength(3);
    await adding;
    expect(phases[0]).toBe('storing');
    expect(phases.at(-1)).toBe('linking');
    expect(await docs.stats()).toMatchObject({ count: rows, linked: rows });
  });

  test('stop when asked: nothing changed before the rows are stored, searchable rows after', async () => {
    const db = await opened();
    const docs = await db.collection('docs', { dimensions });
    const ids = Array.from({ length: rows }, (_, i) => i);
    const vectors = randomVectors(generator(5), rows, dimensions);
    await expect(docs.upsert({ ids, vectors }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(await docs.count()).toBe(0);

    const controller = new AbortController();
    const stopped = docs.upsert(
      { ids, vectors },
      { signal: controller.signal, onProgress: ({ phase }) => phase === 'linking' && controller.abort() },
    );
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED', message: expect.stringContaining('stored') as string });
    const { count, linked } = await docs.stats();
    expect(count).toBe(rows);
    expect(linked).toBeLessThan(rows);
    const [hit] = await docs.search({ vector: vectors.slice(0, dimensions), k: 1 });
    expect(hit?.id).toBe(0);
    await docs.index();
    expect((await docs.stats()).linked).toBe(rows);
  });

  test('callbacks that throw stop nothing', async () => {
    const db = await opened();
    const docs = await db.collection('docs', { dimensions: 1 });
    const onProgress = (): never => {
      throw new Error('mine');
    };
    expect(await docs.upsert([{ id: 1, vector: [1] }], { onProgress })).toBe(1);
  });

  test('overlapping flushes and closing twice are no errors; afterwards calls say closed', async () => { // c24
    const db = await open('x', { storage: { folder: temporaryFolder() } });
    const docs = await db.collection('docs', { dimensions: 1 });
    const generation = (await db.info()).generation;
    const work = Array.from({ length: 10 }, (_, i) => [docs.upsert([{ id: i, vector: [i] }]), db.flush()]).flat();
    await Promise.all(work);
    expect((await db.info()).generation - generation).toBeLessThanOrEqual(2);
    await Promise.all([db.close(), db.close()]);
    await expect(docs.count()).rejects.toBeInstanceOf(NearfieldError);
    await expect(docs.count()).rejects.toMatchObject({ code: 'CLOSED' });
  });
});
