// What is asked of the documents: words, a document to be like, and filters. It lives in the address.

import type { Filter, Fuse } from 'nearfield';
import { documentsPath } from '../address.ts';

export const fuses = ['rrf', 'weights', 'rerank'] as const;
export type FuseName = (typeof fuses)[number];

export interface Question {
  readonly text: string;
  /** The document whose embedding is the vector; undefined: that of the best match of the text. */
  readonly like: string | undefined;
  readonly fuse: FuseName;
  readonly categories: readonly string[];
  readonly tags: readonly string[];
  /** How many words a document has. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** A further filter, as JSON that may be wrong. */
  readonly where: string;
}

const startText = 'navigate to another app';

export const withoutFilters = { categories: [], tags: [], from: undefined, to: undefined, where: '' } as const;

export function questionOf(hash: string): Question {
  const [, query] = hash.split('?', 2);
  const values = new URLSearchParams(query);
  const fuse = fuses.find((name) => name === values.get('fuse')) ?? 'rrf';
  return {
    text: query === undefined ? startText : (values.get('q') ?? ''),
    like: values.get('like') ?? undefined,
    fuse,
    categories: values.getAll('category'),
    tags: values.getAll('tag'),
    from: wholeNumber(values.get('from')),
    to: wholeNumber(values.get('to')),
    where: values.get('where') ?? '',
  };
}

export function hashOfQuestion(question: Question): string {
  const values = new URLSearchParams({ q: question.text });
  if (question.like !== undefined) values.set('like', question.like);
  if (question.fuse !== 'rrf') values.set('fuse', question.fuse);
  for (const category of question.categories) values.append('category', category);
  for (const tag of question.tags) values.append('tag', tag);
  if (question.from !== undefined) values.set('from', String(question.from));
  if (question.to !== undefined) values.set('to', String(question.to));
  if (question.where.trim() !== '') values.set('where', question.where);
  return `${documentsPath}?${values.toString()}`;
}

/** The number that a field or an address holds; undefined for nothing and for anything else. */
export function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
}

/** How many filters are set. */
export const filtersOf = ({ categories, tags, from, to, where }: Question): number =>
  categories.length + tags.length + (from === undefined && to === undefined ? 0 : 1) + (where.trim() === '' ? 0 : 1);

/** Any of the categories, all of the tags, within the lengths, and what the person wrote. */
export function filterOf(question: Question, written: Filter | undefined): Filter | undefined {
  const { categories, tags, from, to } = question;
  const conditions: Filter[] = [];
  if (categories.length > 0) conditions.push({ category: { $in: categories } });
  for (const tag of tags) conditions.push({ tags: tag });
  if (from !== undefined || to !== undefined) {
    conditions.push({
      words: { ...(from === undefined ? {} : { $gte: from }), ...(to === undefined ? {} : { $lte: to }) },
    });
  }
  if (written) conditions.push(written);
  return conditions.length > 1 ? { $and: conditions } : conditions[0];
}

export const fuseOf = (name: FuseName): Fuse => (name === 'weights' ? { vector: 0.5, text: 0.5 } : name);
