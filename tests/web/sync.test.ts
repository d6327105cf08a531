// The synchronous engine.
import { open } from 'nearfield/sync';
import { expect, test } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { generator, randomVectors } from './random.ts';

test('answers at once, and keeps what was flushed', async () => {
  const storage = { folder: temporaryFolder() };
  const db = await open('x', { storage });
  const docs = db.collection<string>('docs', { dimensions: 8 });
  const vectors = randomVectors(generator(1), 50, 8);
  expect(docs.upsert({ ids: Array.from({ length: 50 }, (_, i) => i), vectors, metadata: Array<string>(50).fill('m') })).toBe(50);
  expect(docs.search({ vector: vectors.slice(0, 8), k: 1 })[0]?.id).toBe(0);
  expect(docs.delete([0])).toBe(1);
  void db.flush(); // in a folder it is done when the call returns
  const second = await open('x', { storage, readOnly: true });
  expect(second.collection('docs').count()).toBe(49);
  await second.close();
  await db.close();
  expect(() => docs.count()).toThrow(/closed/);
});
