// A thousand random changes and reopenings, compared with a Map.
import { open, type Collection, type Database } from 'nearfield';
import { expect, test } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { generator, randomVector } from './random.ts';

interface Kept {
  vector: Float32Array;
  metadata: number | undefined;
}

const dimensions = 12;

test.each([1, 2])('a store behaves as a Map does, seed %i', async (seed) => {
  const next = generator(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const storage = { folder: temporaryFolder() };
  const model = new Map<number | string, Kept>();
  let db: Database = await open('model', { storage, worker: false });
  let docs: Collection<number> = await db.collection<number>('docs', { dimensions, metric: 'l2' });
  const someId = (): number | string => (next() < 0.5 ? below(300) : `id ${below(300)}`);

  async function upsert(): Promise<void> {
    const records = Array.from({ length: 1 + below(20) }, () => ({
      id: someId(),
      vector: randomVector(next, dimensions),
      metadata: next() < 0.5 ? below(100) : undefined,
    }));
    const before = model.size;
    for (const { id, vector, metadata } of records) model.set(id, { vector, metadata });
    expect(await docs.upsert(records)).toBe(model.size - before);
  }

  async function remove(): Promise<void> {
    const ids = Array.from({ length: 1 + below(12) }, someId);
    const before = model.size;
    for (const id of ids) model.delete(id);
    expect(await docs.delete(ids)).toBe(before - model.size);
  }

  async function clear(): Promise<void> {
    model.clear();
    await docs.clear();
  }

  async function reopen(): Promise<void> {
    await db.close();
    db = await open('model', { storage, worker: false });
    docs = await db.collection<number>('docs');
    expect((await docs.stats()).distanceComputations).toBe(0);
  }

  async function check(): Promise<void> {
    expect(await docs.count()).toBe(model.size);
    const id = someId();
    const kept = model.get(id);
    const stored = await docs.get(id);
    expect(stored?.vector).toEqual(kept?.vector);
    expect(stored?.metadata).toEqual(kept?.metadata);
    const query = randomVector(next, dimensions);
    const k = 1 + below(10);
    const hits = await docs.search({ vector: query, k, exact: true });
    const distance = ({ vector }: Kept): number =>
      vector.reduce((sum, value, i) => sum + (value - (query[i] as number)) ** 2, 0);
    const expected = [...model.values()].map(distance).sort((a, b) => a - b).slice(0, k);
    expect(hits).toHaveLength(expected.length);
    hits.forEach((hit, i) => expect(hit.distance).toBeCloseTo(expected[i] as number, 4));
    expect(new Set(hits.map((hit) => hit.id)).size).toBe(hits.length);
    for (const hit of hits) expect(model.has(hit.id as number)).toBe(true);
    const walked = await docs.search({ vector: query, k });
    expect(walked).toHaveLength(expected.length);
  }

  for (let step = 0; step < 1000; ++step) {
    const choice = next();
    if (choice < 0.5) await upsert();
    else if (choice < 0.8) await remove();
    else if (choice < 0.9) await db.flush();
    else if (choice < 0.91) await clear();
    else await reopen();
    if (step % 3 === 0) await check();
  }
  await reopen();
  await check();
  for (const [id, { vector, metadata }] of model) {
    expect(await docs.get(id)).toEqual(metadata === undefined ? { id, vector } : { id, vector, metadata });
  }
  await db.close();
});
