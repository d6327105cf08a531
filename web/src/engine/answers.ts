// Answers of the engine as the objects that callers get.
import type { PackedRank } from '../arguments.js';
import type { PackedField, PackedText } from '../records.js';
import type {
  CollectionOptions,
  CollectionStats,
  Explained,
  FacetCount,
  Highlight,
  Metric,
  RowType,
  SearchHit,
  StoredRecord,
} from '../types.js';
import { ByteReader, stringIndex } from './boundary.js';

export const metrics: readonly Metric[] = ['cosine', 'l2', 'dot']; // in the order of the engine's enum
export const rowTypes: readonly RowType[] = ['f32', 'f16']; // likewise

export type FullOptions = Readonly<Required<Omit<CollectionOptions, 'fields'>>>;

/** What stands beside id and distance in a packed answer. */
export interface Included {
  metadata: boolean;
  vector: boolean;
  highlights: boolean;
}

/** The number that the engine takes for it. */
export const includeBits = ({ metadata, vector, highlights }: Included): number =>
  (metadata ? 1 : 0) | (vector ? 2 : 0) | (highlights ? 4 : 0);

function scoreOf(metric: Metric, distance: number): number {
  switch (metric) {
    case 'cosine':
      return 1 - distance;
    case 'dot':
      return 0 - distance; // never -0
    case 'l2':
      return 1 / (1 + distance);
  }
}

export function decodeHits<Meta>(
  bytes: Uint8Array,
  queries: number,
  { metric, dimensions }: FullOptions,
  included: Included,
): SearchHit<Meta>[][] {
  const reader = new ByteReader(bytes);
  const lists: SearchHit<Meta>[][] = [];
  for (let query = 0; query < queries; ++query) {
    const hits: SearchHit<Meta>[] = [];
    for (let left = reader.uint32(); left > 0; --left) {
      const distance = reader.float32();
      const hit: SearchHit<Meta> = { id: reader.id(), score: scoreOf(metric, distance), distance };
      if (included.metadata) {
        const text = reader.text();
        if (text !== '') hit.metadata = JSON.parse(text) as Meta;
      }
      if (included.vector) hit.vector = reader.floats(dimensions);
      hits.push(hit);
    }
    lists.push(hits);
  }
  return lists;
}

/** Of the fields that were searched: none named, all of them. */
function decodeHighlights(reader: ByteReader, searched: PackedText['weights']): Record<string, Highlight[]> {
  const highlights: Record<string, Highlight[]> = {};
  for (let left = reader.uint32(); left > 0; --left) {
    const field = reader.text();
    const text = reader.text();
    const ranges = Array.from({ length: reader.uint32() }, (): [number, number] => [
      stringIndex(text, reader.uint32()),
      stringIndex(text, reader.uint32()),
    ]);
    if (searched.length > 0 && !searched.some((one) => one.field === field)) continue;
    (highlights[field] ??= []).push({ text, ranges });
  }
  return highlights;
}

/** What the engine answered to a search by rank(). `matches` is how many rows its filter matched. */
export function decodeRanking<Meta>(
  bytes: Uint8Array,
  { dimensions }: FullOptions,
  { included, text }: PackedRank,
  matches: number | undefined,
): Explained<Meta> {
  const reader = new ByteReader(bytes);
  const plan = reader.text();
  const textMatches = reader.float64();
  const hits: SearchHit<Meta>[] = [];
  for (let left = reader.uint32(); left > 0; --left) {
    const score = reader.float64();
    const distance = reader.float32();
    const hit: SearchHit<Meta> = { id: reader.id(), score, distance };
    if (included.metadata) {
      const metadata = reader.text();
      if (metadata !== '') hit.metadata = JSON.parse(metadata) as Meta;
    }
    if (included.vector) hit.vector = reader.floats(dimensions);
    if (included.highlights) hit.highlights = decodeHighlights(reader, text?.weights ?? []);
    hits.push(hit);
  }
  return { hits, plan, matches, textMatches: text ? textMatches : undefined };
}

export function decodeFields(bytes: Uint8Array): PackedField[] {
  const reader = new ByteReader(bytes);
  return Array.from({ length: reader.uint32() }, () => ({
    name: reader.text(),
    type: reader.uint8(),
    stopWords: reader.uint8() !== 0,
    prefix: reader.uint8() !== 0,
  }));
}

export function decodeFacets(bytes: Uint8Array): FacetCount[] {
  const reader = new ByteReader(bytes);
  return Array.from({ length: reader.uint32() }, () => ({ value: reader.text(), count: reader.float64() }));
}

export function decodeRecords<Meta>(
  bytes: Uint8Array,
  count: number,
  { dimensions }: FullOptions,
): (StoredRecord<Meta> | undefined)[] {
  const reader = new ByteReader(bytes);
  const records: (StoredRecord<Meta> | undefined)[] = [];
  for (let i = 0; i < count; ++i) {
    if (reader.uint8() === 0) {
      records.push(undefined);
      continue;
    }
    const id = reader.id();
    const text = reader.text();
    const record: StoredRecord<Meta> = { id, vector: reader.floats(dimensions) };
    if (text !== '') record.metadata = JSON.parse(text) as Meta;
    records.push(record);
  }
  return records;
}

export function decodeOptions(bytes: Uint8Array): FullOptions {
  const reader = new ByteReader(bytes);
  return {
    dimensions: reader.float64(),
    metric: metrics[reader.float64()] ?? 'cosine',
    storage: rowTypes[reader.float64()] ?? 'f32',
    m: reader.float64(),
    efConstruction: reader.float64(),
    seed: reader.float64(),
  };
}

export function decodeStats(bytes: Uint8Array): CollectionStats {
  const reader = new ByteReader(bytes);
  return {
    count: reader.float64(),
    rows: reader.float64(),
    linked: reader.float64(),
    memoryBytes: reader.float64(),
    distanceComputations: reader.float64(),
    buildDistances: reader.float64(),
  };
}

const texts = (reader: ByteReader): string[] => Array.from({ length: reader.uint32() }, () => reader.text());

export interface StoredInfo {
  formatVersion: number;
  generation: number;
  bytes: number;
  kernels: string;
  warnings: string[];
  bytesByKind: Record<string, number>;
}

export function decodeInfo(bytes: Uint8Array): StoredInfo {
  const reader = new ByteReader(bytes);
  const info: StoredInfo = {
    formatVersion: reader.float64(),
    generation: reader.float64(),
    bytes: reader.float64(),
    kernels: reader.text(),
    warnings: texts(reader),
    bytesByKind: {},
  };
  for (let left = reader.uint32(); left > 0; --left) {
    const kind = reader.text();
    info.bytesByKind[kind] = reader.float64();
  }
  return info;
}

export function decodeNames(bytes: Uint8Array): string[] {
  return texts(new ByteReader(bytes));
}
