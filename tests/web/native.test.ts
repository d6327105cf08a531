// A store that the native program wrote opens in Node, and the other way round.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'nearfield';
import { expect, test } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { native } from './program.ts';
import { generator, randomVectors } from './random.ts';

const dimensions = 20;
const rows = 3000;

test('written natively, read in Node', async () => {
  const folder = temporaryFolder();
  const vectors = randomVectors(generator(1), rows, dimensions);
  const file = join(temporaryFolder(), 'rows.f32');
  writeFileSync(file, vectors);
  native('import', folder, '--from', file, '--format', 'f32', '--dimensions', String(dimensions), '--metric', 'l2');
  await using db = await open('native', { storage: { folder } });
  const [name = ''] = await db.collections();
  const docs = await db.collection(name);
  expect(await docs.stats()).toMatchObject({ count: rows, distanceComputations: 0 });
  for (const row of [0, 1234, rows - 1]) {
    const vector = vectors.slice(row * dimensions, (row + 1) * dimensions);
    expect((await docs.search({ vector, k: 1 }))[0]).toMatchObject({ id: row, distance: 0 });
  }
});

test('written in Node, checked natively', async () => {
  const folder = temporaryFolder();
  {
    await using db = await open('node', { storage: { folder } });
    const docs = await db.collection('docs', { dimensions });
    const ids = Array.from({ length: rows }, (_, i) => (i % 2 === 0 ? i : `row ${i}`));
    await docs.upsert({ ids, vectors: randomVectors(generator(2), rows, dimensions), metadata: ids });
    await docs.delete([0, 2, 4]);
  }
  native('verify', folder);
  expect(JSON.parse(native('info', folder, '--json'))).toMatchObject({ records: rows - 3, dimensions, metric: 'cosine' });
});

test.each(['f32', 'f16'] as const)('the same rows give the same bytes natively and in Node, %s', async (storage) => {
  const vectors = randomVectors(generator(3), rows, dimensions);
  const folder = temporaryFolder();
  const file = join(temporaryFolder(), 'rows.f32');
  const packed = join(temporaryFolder(), 'packed');
  writeFileSync(file, vectors);
  const shape = ['--dimensions', String(dimensions), '--metric', 'cosine', '--storage', storage];
  native('import', folder, '--from', file, ...shape);
  native('pack', folder, packed);
  await using db = await open('node', { storage: 'memory' });
  const docs = await db.collection('default', { dimensions, storage });
  await docs.upsert({ ids: Array.from({ length: rows }, (_, i) => i), vectors });
  expect(Buffer.compare(await db.export(), readFileSync(packed))).toBe(0);
  await using copy = await open('copy', { storage: 'memory', from: readFileSync(packed) });
  const query = { vectors: randomVectors(generator(4), 50, dimensions), include: ['vector'] as const };
  expect(await (await copy.collection('default')).searchMany(query)).toEqual(await docs.searchMany(query));
});
