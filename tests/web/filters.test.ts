// Random filters of every operator, on declared and undeclared members, compared with a plain evaluator.
import { open, type Filter } from 'nearfield/sync';
import { expect, test } from 'vitest';
import { generator } from './random.ts';

type Value = string | number | boolean;
interface Row {
  id: number | string;
  metadata: Record<string, unknown>;
}
type Operators = Record<string, unknown>;

/** What a member has: nothing, one value, or the elements of a list. */
function valuesOf({ metadata }: Row, path: string): unknown[] {
  const [outer = '', inner] = path.split('.');
  const member = inner === undefined ? metadata[outer] : (metadata[outer] as Record<string, unknown> | undefined)?.[inner];
  if (member === undefined || member === null) return [];
  return Array.isArray(member) ? member : [member];
}

function holds(operator: string, operand: unknown, values: unknown[]): boolean {
  const compares = (test: (value: number) => boolean): boolean =>
    values.some((value) => typeof value === 'number' && test(value));
  switch (operator) {
    case '$eq':
      return values.includes(operand);
    case '$ne':
      return !values.includes(operand);
    case '$in':
      return (operand as unknown[]).some((one) => values.includes(one));
    case '$nin':
      return !(operand as unknown[]).some((one) => values.includes(one));
    case '$gt':
      return compares((value) => value > (operand as number));
    case '$gte':
      return compares((value) => value >= (operand as number));
    case '$lt':
      return compares((value) => value < (operand as number));
    case '$lte':
      return compares((value) => value <= (operand as number));
    case '$exists':
      return values.length > 0 === operand;
    case '$not':
      return !Object.entries(operand as Operators).every(([inner, one]) => holds(inner, one, values));
    default:
      throw new Error(operator);
  }
}

function matches(filter: Filter, row: Row): boolean {
  return Object.entries(filter).every(([key, condition]) => {
    const filters = condition as Filter[];
    if (key === '$and') return filters.every((one) => matches(one, row));
    if (key === '$or') return filters.some((one) => matches(one, row));
    if (key === '$not') return !matches(condition as Filter, row);
    const values = key === '$id' ? [row.id] : valuesOf(row, key);
    if (typeof condition !== 'object') return holds('$eq', condition, values);
    return Object.entries(condition as Operators).every(([operator, operand]) => holds(operator, operand, values));
  });
}

test.each([1, 2, 3])('random filters match what a plain evaluator says, seed %i', async (seed) => { // c31
  const next = generator(seed);
  const below = (count: number): number => Math.floor(next() * count);
  const one = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  const words = ['x', 'Zürich', '東京', '😀'] as const; // c32

  const database = await open('filters');
  const fields = { n: 'number', t: 'tag', b: 'bool', k: 'keyword', 'deep.n': 'number' } as const;
  const collection = database.collection('rows', { dimensions: 1, fields });
  const number = (): number => below(6) - 2.5;
  const sometimes = (key: string, value: () => unknown): Record<string, unknown> =>
    below(3) === 0 ? (below(3) === 0 ? { [key]: null } : {}) : { [key]: value() };
  const rows: Row[] = Array.from({ length: 200 }, (_, i) => ({
    id: i % 2 === 0 ? i : String(i),
    metadata: {
      ...sometimes('n', number),
      ...sometimes('t', () => (below(2) === 0 ? one(words) : Array.from({ length: below(3) }, () => one(words)))),
      ...sometimes('b', () => below(2) === 0),
      ...sometimes('k', () => one(words)),
      ...sometimes('deep', () => ({ n: number() })),
      ...sometimes('u', () => one<Value | Value[]>([1, 2, '1', 'x', true, false, [1, 'x'], []])), // undeclared
    },
  }));
  collection.upsert(rows.map((row) => ({ ...row, vector: [1] })));
  for (const row of rows.splice(0, 50)) collection.delete(row.id);

  const value: Record<string, () => Value> = {
    n: number,
    'deep.n': number,
    t: () => one(words),
    k: () => one(words),
    b: () => below(2) === 0,
    u: () => one<Value>([1, 2, '1', 'x', true, false]),
    $id: () => one<Value>([60, '61', 61, '60', 1000, 5]),
  };
  const operators = (key: string): Operators => {
    const make = value[key] as () => Value;
    const list = (): Value[] => Array.from({ length: below(4) }, make);
    const all: [string, () => unknown][] = [['$eq', make], ['$ne', make], ['$in', list], ['$nin', list]];
    if (key !== '$id') all.push(['$exists', () => below(2) === 0]);
    if (['n', 'deep.n', 'u'].includes(key)) for (const name of ['$gt', '$gte', '$lt', '$lte']) all.push([name, number]);
    if (below(5) === 0) all.push(['$not', () => operators(key)]);
    return Object.fromEntries(Array.from({ length: 1 + below(2) }, () => one(all)).map(([name, operand]) => [name, operand()]));
  };
  const filter = (depth: number): Filter => {
    const kind = depth > 3 ? 0 : below(6);
    const filters = (): Filter[] => Array.from({ length: 1 + below(3) }, () => filter(depth + 1));
    if (kind === 3) return { $and: filters() };
    if (kind === 4) return { $or: filters() };
    if (kind === 5) return { $not: filter(depth + 1) };
    return Object.fromEntries(
      Array.from({ length: 1 + below(2) }, () => one(Object.keys(value))).map((key) => [
        key,
        below(3) === 0 ? (value[key] as () => Value)() : operators(key),
      ]),
    );
  };

  let some = 0;
  for (let round = 0; round < 400; ++round) {
    const where = filter(0);
    const expected = rows.filter((row) => matches(where, row)).map((row) => row.id);
    const text = JSON.stringify(where);
    expect(collection.search({ where, k: 1000 }).map((hit) => hit.id), text).toEqual(expected);
    expect(collection.count(where), text).toBe(expected.length);
    const nearest = collection.search({ vector: [1], where, k: 10 }).map((hit) => hit.id);
    expect(nearest, text).toEqual(expected.slice(0, 10)); // all are equally far: in the order stored
    if (expected.length > 0 && expected.length < rows.length) ++some;
  }
  expect(some).toBeGreaterThan(200);
  await database.close();
});
