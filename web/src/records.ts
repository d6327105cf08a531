// Checks what filters, texts, orders and fields callers hand in, and packs them.
import { checkFields, checkInteger, checkText, show } from './arguments.js';
import { NearfieldError, invalid } from './errors.js';
import type { FieldOptions, FieldType, Fields, Filter, Fuse, SearchQuery, TextQuery } from './types.js';

export const fieldTypes: readonly FieldType[] = ['tag', 'number', 'bool', 'text', 'keyword']; // in the engine's order

const mostDepth = 200; // the engine refuses much less, with a better sentence

/**
 * A filter as the engine's JSON: dates as milliseconds, bigints with all their digits. What JSON would leave out or
 * change is refused, since a condition that is lost matches more.
 */
export function filterText(where: unknown): string {
  if (!isPlainObject(where)) {
    throw invalid(`where is ${show(where)}; expected an object literal such as { price: { $lt: 100 } }`);
  }
  return jsonText(where, 'where', 0);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null; // of whichever realm
}

function jsonText(value: unknown, path: string, depth: number): string {
  if (depth > mostDepth) throw invalid(`where is nested more than ${mostDepth} deep, or in a circle`);
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw invalid(`${path} has unpaired surrogates`);
    return JSON.stringify(value);
  }
  const number = value instanceof Date ? value.getTime() : value;
  if (typeof number === 'number') {
    if (!Number.isFinite(number)) throw invalid(`${path} is ${number}; expected a finite number`);
    return String(number);
  }
  if (Array.isArray(value)) {
    return `[${Array.from(value, (one, i) => jsonText(one, `${path}[${i}]`, depth + 1)).join(',')}]`; // holes as well
  }
  if (!isPlainObject(value)) throw invalid(`${path} is ${show(value)}; expected what JSON can hold, or a Date`);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key.toWellFormed())}:${jsonText(member, `${path}.${key}`, depth + 1)}`)
    .join(',')}}`;
}

export const isEmptyFilter = (where: Filter): boolean => filterText(where) === '{}';

export interface PackedField {
  name: string;
  type: number;
  stopWords: boolean;
  prefix: boolean;
}

/** Fields as the engine takes them, sorted by name so that two declarations can be compared. */
export function packFields(fields: unknown): PackedField[] {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw invalid(`fields is ${show(fields)}; expected an object such as { title: 'text', price: 'number' }`);
  }
  return Object.entries(fields as Fields)
    .filter(([, field]) => (field as unknown) !== undefined)
    .map(([name, field]) => {
      checkText(name, 'the name of a field');
      const options: FieldOptions = typeof field === 'string' ? { type: field } : field;
      checkFields(options, ['type', 'stopWords', 'prefix'], `field "${name}"`);
      const type = fieldTypes.indexOf(options.type);
      if (type < 0) {
        throw invalid(`the type of field "${name}" is ${show(options.type)}; expected one of ${fieldTypes.join(', ')}`);
      }
      const { stopWords = true, prefix = true } = options;
      for (const [what, flag] of Object.entries({ stopWords, prefix })) {
        if (typeof flag !== 'boolean') throw invalid(`${what} of field "${name}" must be true or false`);
      }
      return { name, type, stopWords, prefix };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function unpackFields(packed: readonly PackedField[]): Fields {
  return Object.fromEntries(
    packed.map(({ name, type, stopWords, prefix }) => {
      const known = fieldTypes[type] as FieldType;
      return [name, stopWords && prefix ? known : { type: known, stopWords, prefix }];
    }),
  );
}

/** The fields given for a collection that exists must be those it has. */
export function checkSameFields(name: string, given: readonly PackedField[], stored: readonly PackedField[]): void {
  const [wanted, has] = [unpackFields(given), unpackFields(stored)];
  for (const field of new Set([...Object.keys(wanted), ...Object.keys(has)])) {
    const text = (fields: Fields): string => JSON.stringify(fields[field]) ?? 'no such field';
    if (text(wanted) === text(has)) continue;
    throw new NearfieldError(
      'OPTIONS_MISMATCH',
      `collection "${name}" has ${text(has)} for field "${field}", but was opened with ${text(wanted)}; setFields() changes fields`,
    );
  }
}

export interface PackedText {
  query: string;
  weights: { field: string; weight: number }[];
  all: boolean;
}

export function packText(text: string | TextQuery): PackedText {
  const query: TextQuery = typeof text === 'string' ? { query: text } : text;
  checkFields(query, ['query', 'fields', 'match'], 'text');
  if (typeof query.query !== 'string') throw invalid(`text is ${show(query.query)}; expected words to search for`);
  const { match = 'any', fields = [] } = query;
  if (match !== 'any' && match !== 'all') throw invalid(`match is ${show(match)}; expected "any" or "all"`);
  if (typeof fields !== 'object' || fields === null) {
    throw invalid(`fields of a text is ${show(fields)}; expected names in an array, or an object with their weights`);
  }
  const entries = Array.isArray(fields) ? fields.map((field) => [field, 1] as const) : Object.entries(fields);
  const weights = entries.map(([field, weight]) => {
    if (typeof weight !== 'number') throw invalid(`the weight of field "${String(field)}" is ${show(weight)}; expected a number`);
    return { field: checkText(field, 'the name of a field'), weight };
  });
  return { query: query.query.toWellFormed(), weights, all: match === 'all' };
}

const fusions = { rrf: 0, weights: 1, rerank: 2 }; // the engine's numbers

export interface PackedFusion {
  fusion: number;
  vectorWeight: number;
  textWeight: number;
}

export function packFusion(fuse: Fuse = 'rrf'): PackedFusion {
  if (fuse === 'rrf' || fuse === 'rerank') return { fusion: fusions[fuse], vectorWeight: 1, textWeight: 1 };
  if (typeof fuse !== 'object') throw invalid(`fuse is ${show(fuse)}; expected "rrf", "rerank" or { vector, text }`);
  checkFields(fuse, ['vector', 'text'], 'fuse');
  const { vector, text } = fuse;
  if (typeof vector !== 'number' || typeof text !== 'number') throw invalid('fuse needs a number for vector and one for text');
  return { fusion: fusions.weights, vectorWeight: vector, textWeight: text };
}

export interface PackedOrder {
  field: string;
  descending: boolean;
}

export function packOrder(orderBy: SearchQuery['orderBy']): PackedOrder {
  if (orderBy === undefined) return { field: '', descending: false };
  if (typeof orderBy === 'string') return { field: checkText(orderBy, 'orderBy'), descending: false };
  checkFields(orderBy, ['field', 'order'], 'orderBy');
  const { field, order = 'asc' } = orderBy;
  if (order !== 'asc' && order !== 'desc') throw invalid(`order is ${show(order)}; expected "asc" or "desc"`);
  return { field: checkText(field, 'orderBy.field'), descending: order === 'desc' };
}

export interface PackedFacets {
  field: string;
  where: string | undefined;
  top: number;
}

export function packFacets(field: string, options: { where?: Filter; top?: number }): PackedFacets {
  checkFields(options, ['where', 'top'], 'facets');
  const { where, top = 10 } = options;
  return {
    field: checkText(field, 'the name of a field'),
    where: where === undefined ? undefined : filterText(where),
    top: checkInteger(top, 1, 0x7fffffff, 'top'),
  };
}
