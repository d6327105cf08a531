// Fields, filters, full text and hybrid ranking through the package.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { open, type Fields, type Filter, type SearchQuery } from 'nearfield';
import { open as openSync, type SyncCollection, type SyncDatabase } from 'nearfield/sync';
import { temporaryFolder } from './folder.ts';

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
    expect(ids({ tag: { $not: { $in: ['audio'] } }, price: { $eq: 30 } })).toEqual(['c']);
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
    // A condition that JSON would drop is no narrower filter, but a wider one.
    expect(fails({ price: 1, tag: undefined })).toMatch(/where\.tag is undefined/);
    expect(fails({ $and: [{ tag: 'audio' }, { price: { $lt: undefined } }] })).toMatch(/where\.\$and\[1\]\.price\.\$lt is undefined/);
    expect(fails({ tag: { $in: Array<string>(1) } })).toMatch(/where\.tag\.\$in\[0\] is undefined/);
    expect(fails(new Map([['tag', 'audio']]))).toMatch(/expected an object/);
    expect(fails({ tag: /audio/ })).toMatch(/where\.tag is object; expected what JSON can hold/);
    expect(fails({ price: { $lt: new Date(NaN) } })).toMatch(/where\.price\.\$lt is NaN/);
    expect(fails({ tag: '\ud800' })).toMatch(/where\.tag has unpaired surrogates/);
    const circle: Record<string, unknown> = {};
    circle['$not'] = circle;
    expect(fails(circle)).toMatch(/in a circle/);
    expect(fails({ title: 'Wired' })).toMatch(/text field "title"/);
  });

  test('beside a vector: as many rows as match, nearest first', () => {
    const found = docs.explain({ vector: [1, 0, 0], where: { price: { $lt: 100 } }, k: 3 });
    expect(found.hits.map((hit) => hit.id)).toEqual(['a', 'c']);
    expect(found.matches).toBe(2);
    expect(found.plan).toBe('scan');
    const lists = docs.searchMany({ vectors: [[1, 0, 0], [0, 1, 0]], where: { tag: 'audio' }, k: 1 });
    expect(lists.map(([hit]) => hit?.id)).toEqual(['a', 'b']);
  });

  test('the same filter again sees every change in between', async () => {
    const db = await openSync('again');
    const numbered = db.collection<{ n: number }>('numbered', { dimensions: 2, fields: { n: 'number' } });
    const other = db.collection<{ n: number }>('other', { dimensions: 2, fields: { n: 'number' } });
    const record = (id: number, n: number) => ({ id, vector: [1, id], metadata: { n } });
    const where = { n: { $gt: 4 } };
    const matching = () => numbered.search({ vector: [1, 0], where, k: 20 }).map(({ id }) => id);
    numbered.upsert([record(1, 5), record(2, 1), record(3, 7)]);
    expect(matching()).toEqual([1, 3]);
    expect(matching()).toEqual([1, 3]);
    expect(other.count(where)).toBe(0);
    numbered.upsert([record(4, 9)]);
    expect(matching()).toEqual([1, 3, 4]);
    numbered.update([{ id: 1, metadata: { n: 0 } }]);
    expect(matching()).toEqual([3, 4]);
    numbered.delete(3);
    expect(matching()).toEqual([4]);
    numbered.compact();
    expect(matching()).toEqual([4]);
    expect(numbered.deleteWhere(where)).toBe(1);
    expect(matching()).toEqual([]);
    numbered.clear();
    numbered.upsert([record(7, 8)]);
    expect(matching()).toEqual([7]);
    db.drop('numbered');
    const anew = db.collection<{ n: number }>('numbered', { dimensions: 2 });
    anew.upsert([record(8, 8), record(9, 9)]);
    expect(anew.count(where)).toBe(2);
    await db.close();
  });

  test('order, pages, counts and facets', () => {
    expect(docs.search({ orderBy: { field: 'price', order: 'desc' } }).map((hit) => hit.id)).toEqual(['b', 'a', 'c', 'd']);
    expect(docs.search({ orderBy: 'price', offset: 1, k: 2 }).map((hit) => hit.id)).toEqual(['a', 'b']);
    expect(docs.count({ tag: 'audio' })).toBe(2);
    expect(docs.facets('tag', { top: 1 })).toEqual([{ value: 'audio', count: 2 }]);
    expect(docs.facets('tag', { where: { price: 30 } })).toEqual([{ value: 'Zürich', count: 1 }]);
    expect(() => docs.facets('price')).toThrow(/expected a tag or keyword field/);
  });

  test('bigint ids keep all their digits', () => {
    const large = database.collection('large', { dimensions: 1 });
    const many = [2n ** 62n, 2n ** 62n + 1n, -(2n ** 63n)];
    large.upsert({ ids: many, vectors: new Float32Array(3) });
    expect(large.search({ where: { $id: 2n ** 62n + 1n } }).map((hit) => hit.id)).toEqual([2n ** 62n + 1n]);
    expect(large.search({ where: { $id: { $nin: [2n ** 62n + 1n] } } }).map((hit) => hit.id)).toEqual([many[0], many[2]]);
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
    expect(highlight?.text).toContain('😀'); // two units of a string, four bytes of UTF-8
    expect(highlight?.ranges.map(([begin, end]) => highlight.text.slice(begin, end))).toEqual(['Wireless', 'sea']);
    const [tower] = docs.search({ text: '東京', include: ['highlights'] });
    expect(tower?.highlights).toEqual({ title: [{ text: '東京タワー', ranges: [[0, 2]] }] });
  });

  test('highlights are of the fields that were searched', () => {
    const [everywhere] = docs.search({ text: 'IT-500 be', include: ['highlights', 'metadata'] });
    expect(Object.keys(everywhere?.highlights ?? {})).toEqual(['sku']); // "be" is no word of a field without stop words
    const text = { query: 'IT-500 wireless', fields: { title: 2 } };
    expect(Object.keys(docs.search({ text, include: ['highlights'] })[0]?.highlights ?? {})).toEqual(['title']);
    expect(docs.search({ vector: [1, 0, 0], k: 1, include: ['highlights'] })[0]?.highlights).toEqual({});
    expect(() => docs.searchMany({ vectors: [[1, 0, 0]], include: ['highlights'] })).toThrow(/searches by text/);
  });

  test('fields weigh what they are given, and are checked', () => {
    const score = (weights: Record<string, number>): number =>
      docs.search({ text: { query: 'headphones', fields: weights } })[0]?.score ?? 0;
    expect(score({ title: 3 })).toBeCloseTo(3 * score({ title: 1 }), 10);
    expect(() => score({ title: -1 })).toThrow(/weight of field "title"/);
    expect(() => docs.search({ text: { query: 'x', fields: 'title' as never } })).toThrow(/fields of a text is "title"/);
    expect(() => docs.search({ text: { query: 'x', fields: ['nothing'] } })).toThrow(/no field "nothing".*one of/);
    expect(docs.search({ text: 'headphones' })[0]?.distance).toBeNaN();
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
  const query = { vector: [1, 0], text: 'w3' };
  const seen: unknown[] = [];
  for (let offset = 0; offset < 400; offset += 40) {
    const page = pages.search({ ...query, k: 40, offset });
    expect(page.length).toBe(40);
    seen.push(...page.map((hit) => hit.id));
  }
  expect(new Set(seen).size).toBe(400);
  expect(seen.every((id) => Number(id) % 2 === 1)).toBe(true);
  expect(pages.search({ ...query, k: 400 }).map((hit) => hit.id)).toEqual(seen);
  const where = { t: { $exists: true }, $id: { $in: Array.from({ length: 300 }, (_, i) => i) } };
  expect(pages.search({ ...query, where, k: 100, offset: 100 }).length).toBe(50); // of 150
});

describe('update', () => {
  const filled = (): SyncCollection<Product> => {
    if (database.collections().includes('changed')) database.drop('changed');
    const changed = database.collection<Product>('changed', { dimensions: 3, fields });
    changed.upsert(products.map(([id, vector, metadata]) => ({ id, vector, metadata })));
    return changed;
  };

  test('keeps what is left out', () => {
    const changed = filled();
    const before = changed.get(['a', 'b', 'c']);
    expect(changed.update([{ id: 'a', metadata: { tag: 'new' } }, { id: 'b', vector: [0, 0, 1] }, { id: 'c' }])).toBe(3);
    expect(changed.get(['a', 'b', 'c'])).toEqual([
      { ...before[0], metadata: { tag: 'new' } },
      { ...before[1], vector: new Float32Array([0, 0, 1]) },
      before[2],
    ]);
    expect(changed.count()).toBe(4);
    expect(changed.search({ where: { tag: 'new' } }).map((hit) => hit.id)).toEqual(['a']);
    expect(changed.search({ text: 'earbuds' })).toEqual([]);
    expect(changed.search({ text: 'headphones' }).map((hit) => hit.id)).toEqual(['b']);
    expect(changed.search({ vector: [0, 0, 1], k: 1 })[0]?.id).toBe('b');
    expect(changed.update([])).toBe(0);
  });

  test('of equal ids, later values win', () => {
    const changed = filled();
    const metadata = { tag: 'last' };
    expect(changed.update([{ id: 'a', vector: [0, 0, 2] }, { id: 'a', metadata: {} }, { id: 'a', metadata }])).toBe(1);
    expect(changed.get('a')).toEqual({ id: 'a', vector: new Float32Array([0, 0, 2]), metadata });
  });

  test('changes all or nothing', () => {
    const changed = filled();
    const before = changed.get(['a', 'b', 'c', 'd']);
    const fails = (records: unknown[], code: string, message: RegExp): void => {
      expect(() => changed.update(records as never)).toThrow(message);
      expect(() => changed.update(records as never)).toThrow(expect.objectContaining({ code }) as Error);
      expect(changed.get(['a', 'b', 'c', 'd'])).toEqual(before);
    };
    const metadata = { tag: 'new' };
    fails([{ id: 'a', metadata }, { id: 'nobody', metadata }], 'NOT_FOUND', /"nobody"/);
    fails([{ id: 'a', metadata }, { id: 7, metadata }], 'NOT_FOUND', /the id 7;/);
    fails([{ id: 'a', metadata }, { id: 'b', metadata: { price: '9' } }], 'INVALID_ARGUMENT', /field "price"/);
    fails([{ id: 'a', metadata }, { id: 'b', vector: [1, 2] }], 'DIMENSION_MISMATCH', /record 1 has 2 dimensions/);
    fails([{ id: 'a', metadata }, { id: 'b', vector: [1, NaN, 2] }], 'NOT_FINITE', /./);
    fails([{ id: 'a', values: [1] }], 'INVALID_ARGUMENT', /"values"/);
    fails([{ id: 1.5 }], 'INVALID_ID', /1\.5/);
  });
});

test('a collection whose fields are refused is not created', () => {
  const create = (given: Fields): unknown => database.collection('refused', { dimensions: 3, fields: given });
  expect(() => create({ $tag: 'tag' })).toThrow(/\$tag/);
  expect(database.collections()).not.toContain('refused');
  create({ tag: 'tag' });
  expect(() => create({ tag: 'text' })).toThrow(/has "tag" for field "tag", but was opened with "text".*setFields/);
  expect(() => create({})).toThrow(/field "tag", but was opened with no such field/);
});

describe.each([
  ['worker', {}],
  ['same thread', { worker: false as const }],
])('asynchronous, %s', (_, options) => {
  test('every call', async () => {
    const db = await open('store', { storage: 'memory', ...options });
    const shop = await db.collection<Product>('docs', { dimensions: 3, fields });
    await shop.upsert(products.map(([id, vector, metadata]) => ({ id, vector, metadata })));
    const idsOf = async (query: SearchQuery): Promise<unknown[]> => (await shop.search(query)).map((hit) => hit.id);
    expect(await idsOf({ vector: [1, 0, 0], where: { price: { $lt: 100 } } })).toEqual(['a', 'c']);
    expect(await idsOf({ text: 'wire*', k: 1, offset: 1 })).toEqual(['a']);
    expect(await idsOf({ orderBy: { field: 'price', order: 'desc' }, k: 2 })).toEqual(['b', 'a']);
    const { hits, ...how } = await shop.explain({ vector: [1, 0, 0], text: 'wire*', where: { tag: 'audio' }, include: ['highlights'] });
    expect(how).toEqual({ plan: 'scan', matches: 2, textMatches: 2 });
    expect(hits.map((hit) => hit.highlights?.['title']?.[0]?.ranges)).toEqual([[[0, 8]], [[0, 5]]]);
    expect(await shop.explain({ text: 'wire*' })).toMatchObject({ plan: 'text', matches: undefined, textMatches: 2 });
    const lists = await shop.searchMany({ vectors: [[1, 0, 0], [0, 1, 0]], where: { tag: 'audio' }, k: 1 });
    expect(lists.map(([hit]) => hit?.id)).toEqual(['a', 'b']);
    expect(await shop.count({ tag: 'audio' })).toBe(2);
    expect(await shop.facets('tag', { where: { tag: 'audio' } })).toEqual([{ value: 'audio', count: 2 }, { value: 'sale', count: 1 }]);
    expect(await shop.update([{ id: 'c', metadata: { tag: 'audio' } }])).toBe(1);
    await expect(shop.update([{ id: 'c', metadata: {} }, { id: 'x' }])).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await shop.count({ tag: 'audio' })).toBe(3);
    await expect(shop.search({ where: { tag: undefined } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(shop.search({ where: { price: { $lx: 1 } } })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await shop.setFields({ tag: 'tag' });
    expect(await shop.fields()).toEqual({ tag: 'tag' });
    expect(await shop.deleteWhere({ tag: 'audio' })).toBe(3);
    expect(await shop.count()).toBe(1);
    await db.close();
  });
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
