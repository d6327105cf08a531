// Fields, filters, full text and hybrid ranking through the package.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { open, type Fields, type Filter } from 'nearfield';
import { open as openSync, type SyncCollection, type SyncDatabase } from 'nearfield/sync';
import { temporaryFolder } from './folder.ts';
import { generator } from './random.ts';

const fields: Fields = {
  title: 'text',
  tag: 'tag',
  price: 'number',
  sale: 'bool',
  sku: 'keyword',
  plain: { type: 'text', stopWords: false, prefix: false },
};
interface Product {
  title?: string;
  tag?: string | string[];
  price?: number;
  sale?: boolean;
  sku?: string;
  plain?: string;
  other?: unknown;
}
const products: [string, number[], Product][] = [
  ['a', [1, 0, 0], { title: 'Wireless earbuds 😀 under the sea', tag: ['audio', 'sale'], price: 79.5, sku: 'IT-500', plain: 'to be or not' }],
  ['b', [0.9, 0.1, 0], { title: 'Wired headphones', tag: 'audio', price: 120, sale: true, sku: 'IT-501' }],
  ['c', [0, 1, 0], { title: '東京タワー', tag: 'Zürich', price: 30, other: { deep: 7 } }],
  ['d', [0, 0.9, 0.3], { title: '大阪城', tag: 'travel' }],
];

let database: SyncDatabase;
let docs: SyncCollection<Product>;
beforeAll(async () => {
  database = await openSync('records');
  docs = database.collection<Product>('docs', { dimensions: 3, fields });
  docs.upsert(products.map(([id, vector, metadata]) => ({ id, vector, metadata })));
});
afterAll(() => database.close());

const ids = (where: Filter): unknown[] => docs.search({ where }).map((hit) => hit.id);

describe('filters', () => {
  test('every operator', () => {
    expect(ids({ tag: 'audio' })).toEqual(['a', 'b']);
    expect(ids({ tag: { $ne: 'audio' } })).toEqual(['c', 'd']);
    expect(ids({ tag: { $in: ['Zürich', 'travel'] } })).toEqual(['c', 'd']);
    expect(ids({ tag: { $nin: ['sale'] } })).toEqual(['b', 'c', 'd']);
    expect(ids({ price: { $gt: 30, $lte: 79.5 } })).toEqual(['a']);
    expect(ids({ price: { $gte: 30, $lt: new Date(100) } })).toEqual(['a', 'c']);
    expect(ids({ price: { $exists: false } })).toEqual(['d']);
    expect(ids({ $or: [{ sale: true }, { 'other.deep': 7 }] })).toEqual(['b', 'c']);
    expect(ids({ $and: [{ tag: 'audio' }, { $not: { sale: true } }] })).toEqual(['a']);
    expect(ids({ $id: { $in: ['d', 'a', 'x'] } })).toEqual(['a', 'd']);
    expect(ids({})).toEqual(['a', 'b', 'c', 'd']);
  });

  test('what is wrong is named', () => {
    const fails = (where: unknown): string => {
      try {
        docs.search({ where: where as Filter });
      } catch (error) {
        expect((error as { code: string }).code).toBe('INVALID_ARGUMENT');
        return (error as Error).message;
      }
      throw new Error('was accepted');
    };
    expect(fails({ price: { $lx: 1 } })).toMatch(/\$lx.*expected \$eq/);
    expect(fails({ price: 'cheap' })).toMatch(/price/);
    expect(fails({ price: { $lt: NaN } })).toMatch(/where\.price\.\$lt is NaN/);
    expect(fails({ tag: () => 1 })).toMatch(/where\.tag is function/);
    expect(fails([1])).toMatch(/expected an object/);
  });

  test('beside a vector: as many rows as match, nearest first', () => {
    const found = docs.explain({ vector: [1, 0, 0], where: { price: { $lt: 100 } }, k: 3 });
    expect(found.hits.map((hit) => hit.id)).toEqual(['a', 'c']);
    expect(found.matches).toBe(2);
    expect(found.plan).toBe('scan');
    const lists = docs.searchMany({ vectors: [[1, 0, 0], [0, 1, 0]], where: { tag: 'audio' }, k: 1 });
    expect(lists.map(([hit]) => hit?.id)).toEqual(['a', 'a']);
  });

  test('order, pages, counts and facets', () => {
    expect(docs.search({ orderBy: { field: 'price', order: 'desc' } }).map((hit) => hit.id)).toEqual(['b', 'a', 'c', 'd']);
    expect(docs.search({ orderBy: 'price', offset: 1, k: 2 }).map((hit) => hit.id)).toEqual(['a', 'b']);
    expect(docs.count({ tag: 'audio' })).toBe(2);
    expect(docs.facets('tag', { top: 1 })).toEqual([{ value: 'audio', count: 2 }]);
    expect(docs.facets('tag', { where: { price: 30 } })).toEqual([{ value: 'Zürich', count: 1 }]);
    expect(() => docs.facets('price')).toThrow(/expected a tag or keyword field/);
  });

  test('the same as a naive evaluator, for random filters', () => {
    const next = generator(5);
    const below = (count: number): number => Math.floor(next() * count);
    const collection = database.collection<{ n?: number; t?: string[] }>('random', {
      dimensions: 1,
      fields: { n: 'number', t: 'tag' },
    });
    const rows = Array.from({ length: 300 }, (_, i) => ({
      id: i,
      vector: [1],
      metadata: {
        ...(below(4) === 0 ? {} : { n: below(6) }),
        ...(below(4) === 0 ? {} : { t: Array.from({ length: below(3) }, () => 'xyz'[below(3)] as string) }),
      },
    }));
    collection.upsert(rows);
    const make = (depth: number): [Filter, (row: (typeof rows)[number]) => boolean] => {
      const kind = below(depth > 2 ? 4 : 7);
      const n = below(6);
      const t = 'xyz'[below(3)] as string;
      if (kind === 0) return [{ n: { $lt: n } }, ({ metadata }) => metadata.n !== undefined && metadata.n < n];
      if (kind === 1) return [{ n: { $ne: n } }, ({ metadata }) => metadata.n !== n];
      if (kind === 2) return [{ t: { $in: [t, 'q'] } }, ({ metadata }) => metadata.t?.includes(t) ?? false];
      if (kind === 3) return [{ t: { $exists: true } }, ({ metadata }) => (metadata.t?.length ?? 0) > 0];
      const [a, testA] = make(depth + 1);
      const [b, testB] = make(depth + 1);
      if (kind === 4) return [{ $and: [a, b] }, (row) => testA(row) && testB(row)];
      if (kind === 5) return [{ $or: [a, b] }, (row) => testA(row) || testB(row)];
      return [{ $not: a }, (row) => !testA(row)];
    };
    for (let round = 0; round < 200; ++round) {
      const [where, matches] = make(0);
      const found = collection.search({ where, k: 1000 }).map((hit) => hit.id);
      expect(found, JSON.stringify(where)).toEqual(rows.filter(matches).map((row) => row.id));
    }
  });
});

describe('full text', () => {
  const words = (text: string): unknown[] => docs.search({ text }).map((hit) => hit.id);

  test('words, phrases, prefixes, keywords and Japanese', () => {
    expect(words('EARBUDS')).toEqual(['a']);
    expect(words('wire*')).toEqual(['b', 'a']);
    expect(words('"under the sea"')).toEqual(['a']);
    expect(words('"sea the under"')).toEqual([]);
    expect(words('it-500')).toEqual(['a']);
    expect(words('東京')).toEqual(['c']);
    expect(words('ﾀﾜｰ')).toEqual(['c']);
    expect(words('—')).toEqual([]);
    expect(docs.search({ text: { query: 'to', fields: ['plain'] } })).toEqual([]);
    expect(docs.search({ text: { query: 'wireless headphones', match: 'all' } })).toEqual([]);
    expect(() => docs.search({ text: { query: 'x', fields: ['price'] } })).toThrow(/expected a text or keyword field/);
  });

  test('highlights have the indices of strings', () => {
    const [hit] = docs.search({ text: 'sea wire*', include: ['highlights'] });
    const [highlight] = hit?.highlights?.['title'] ?? [];
    expect(highlight?.ranges.map(([begin, end]) => highlight.text.slice(begin, end))).toEqual(['Wireless', 'sea']);
  });

  test('with a vector: fused, weighted or reranked', () => {
    const fused = docs.explain({ vector: [1, 0, 0], text: 'headphones' });
    expect(fused.hits.map((hit) => hit.id)).toEqual(['b', 'a', 'c', 'd']);
    expect(fused.textMatches).toBe(1);
    expect(docs.search({ vector: [1, 0, 0], text: 'headphones', fuse: { vector: 1, text: 0 } })[0]?.id).toBe('a');
    expect(docs.search({ vector: [1, 0, 0], text: 'wire*', fuse: 'rerank' }).map((hit) => hit.id)).toEqual(['a', 'b']);
  });
});

test('pages of a hybrid search stay full with half of the rows gone', () => {
  // c34
  const pages = database.collection<{ t: string }>('pages', { dimensions: 2, fields: { t: 'text' } });
  pages.upsert(
    Array.from({ length: 800 }, (_, i) => ({ id: i, vector: [Math.cos(i), Math.sin(i)], metadata: { t: `w${i % 20} all` } })),
  );
  pages.delete(Array.from({ length: 400 }, (_, i) => 2 * i));
  const seen = new Set<unknown>();
  for (let offset = 0; offset < 400; offset += 40) {
    const page = pages.search({ vector: [1, 0], text: 'w3', k: 40, offset });
    expect(page.length).toBe(40);
    for (const hit of page) seen.add(hit.id);
  }
  expect(seen.size).toBe(400);
});

test('fields last, are compared when opening, and can be changed', async () => {
  const folder = temporaryFolder();
  const db = await open('store', { storage: { folder } });
  const shop = await db.collection<Product>('docs', { dimensions: 3, fields });
  await shop.upsert(products.map(([id, vector, metadata]) => ({ id, vector, metadata })));
  await expect(shop.upsert([{ id: 'e', vector: [1, 1, 1], metadata: { price: '9' } as never }])).rejects.toThrow(
    'field "price" is a string; expected a number',
  );
  expect(await shop.deleteWhere({ tag: 'travel' })).toBe(1);
  await expect(shop.deleteWhere({})).rejects.toThrow(/clear\(\)/);
  await db.close();

  const again = await open('store', { storage: { folder } });
  await expect(again.collection('docs', { fields: { ...fields, price: 'tag' } })).rejects.toMatchObject({
    code: 'OPTIONS_MISMATCH',
  });
  const stored = await again.collection<Product>('docs', { fields });
  expect(await stored.fields()).toEqual(fields);
  expect(await stored.count({ price: { $lt: 100 } })).toBe(2);
  expect((await stored.search({ text: 'it-501' })).map((hit) => hit.id)).toEqual(['b']);
  await stored.setFields({ price: 'number' });
  expect(await stored.count({ sku: 'IT-501' })).toBe(1); // undeclared now, and still found
  await expect(stored.search({ text: 'it-501' })).rejects.toThrow(/no text or keyword field/);
  expect(await stored.facets('price').catch((error: Error) => error.message)).toMatch(/expected a tag/);
  await again.close();
});
