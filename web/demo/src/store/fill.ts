// Fills the store up to a number of words. Rows go in by frequency, so the count of a store says
// where to go on: the same code builds, resumes after a cancel, and grows 50,000 to all words.

import type { Progress } from 'nearfield';
import { type Piece, dimensions, fetchPieces } from '../words/vectors.ts';
import type { Vocabulary } from '../words/vocabulary.ts';
import type { WordStore } from './word-store.ts';

export type FillStep = 'fetching' | 'storing' | 'linking' | 'saving';

export interface FillProgress {
  readonly step: FillStep;
  /** Words in the store, those being linked counted by their share. */
  readonly words: number;
  readonly target: number;
  readonly fraction: number;
  readonly wordsPerSecond: number;
  readonly remainingMs: number | undefined;
}

export interface FillResult {
  readonly finished: boolean;
  readonly count: number;
  /** Time in which the engine worked: storing, linking and saving, without waiting for downloads. */
  readonly engineMs: number;
  readonly fetchMs: number;
}

export interface FillOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: FillProgress) => void;
  /** Called when more words can be found. */
  readonly onWords: (count: number) => void;
}

// The first batch is small, so that there is something to search at once. Everything else goes in
// together: linking many rows at once is quicker, and rows can be found before they are linked.
const firstBatch = 2_000;
const pieceRows = 10_000; // 4 MB a download

// How the work on a row divides, as measured for 50,000 words; used for the progress bar only.
const share = { fetching: 0.06, storing: 0.06, linking: 0.88 };
const savingShare = 0.04;

export async function fill(
  store: WordStore,
  vocabulary: Vocabulary,
  target: number,
  { signal, onProgress, onWords }: FillOptions,
): Promise<FillResult> {
  const start = await store.count();
  const meter = new ProgressMeter(start, target, onProgress);
  const times = { engine: 0, fetch: 0 };
  const timed = async <T>(kind: 'engine' | 'fetch', work: Promise<T>): Promise<T> => {
    const begin = performance.now();
    try {
      return await work;
    } finally {
      times[kind] += performance.now() - begin;
    }
  };

  let finished = false;
  try {
    meter.report('fetching', 0);
    await timed('fetch', vocabulary.ensure(target, signal));
    const batches = batchBorders(start, target);
    const pieces = fetchPieces(pieceBorders(batches), signal);
    try {
      for (let index = 0; index + 1 < batches.length; index += 1) {
        const rows = (batches[index + 1] ?? 0) - (batches[index] ?? 0);
        meter.batch(rows);
        const vectors = await timed('fetch', collect(pieces, rows, (part) => meter.report('fetching', part)));
        const count = vectors.length / dimensions;
        if (count === 0) break;
        const first = batches[index] ?? 0;
        const words = vocabulary.words.slice(first, first + count);
        let told = false;
        const stored = store.add(words, vectors.subarray(0, words.length * dimensions), {
          signal,
          onProgress: (progress) => {
            meter.engine(progress);
            // Stored rows are found by scanning while they are being linked.
            if (progress.phase === 'linking' && !told) {
              told = true;
              onWords(first + words.length);
            }
          },
        });
        await timed('engine', stored);
        meter.done();
        if (!told) onWords(first + words.length);
        if (words.length < rows) break; // the files are shorter than the target
      }
    } finally {
      await pieces.return();
    }
    await timed('engine', store.link({ signal, onProgress: (progress) => meter.engine(progress) }));
    finished = true;
  } catch (error) {
    if (!signal.aborted) {
      // What was stored before the failure is kept; the failure itself is what matters.
      await store.flush().catch(() => undefined);
      throw error;
    }
  }
  meter.report('saving', 1);
  await timed('engine', store.flush());
  const count = await store.count();
  onWords(count);
  return { finished, count, engineMs: times.engine, fetchMs: times.fetch };
}

function batchBorders(start: number, target: number): number[] {
  if (start >= target) return [start];
  return start === 0 && target > 2 * firstBatch ? [0, firstBatch, target] : [start, target];
}

function pieceBorders(batches: readonly number[]): number[] {
  const borders: number[] = [];
  batches.forEach((border, index) => {
    const next = batches[index + 1] ?? border;
    borders.push(border);
    for (let at = border + pieceRows; at < next; at += pieceRows) borders.push(at);
  });
  return borders;
}

/** Joins pieces into one batch of `rows` rows, or fewer where the file ends. */
async function collect(
  pieces: AsyncGenerator<Piece, void, undefined>,
  rows: number,
  onPart: (fraction: number) => void,
): Promise<Float32Array> {
  const vectors = new Float32Array(rows * dimensions);
  let filled = 0;
  while (filled < vectors.length) {
    const next = await pieces.next();
    if (next.done) break;
    vectors.set(next.value.vectors, filled);
    filled += next.value.vectors.length;
    onPart(filled / vectors.length);
  }
  return vectors.subarray(0, filled);
}

/** Turns the steps of each batch into one bar, a rate and a remaining time. */
class ProgressMeter {
  private readonly begin = performance.now();
  private before: number;
  private rows = 0;

  constructor(
    private readonly start: number,
    private readonly target: number,
    private readonly onProgress: (progress: FillProgress) => void,
  ) {
    this.before = start;
  }

  batch(rows: number): void {
    this.rows = rows;
  }

  done(): void {
    this.before += this.rows;
    this.rows = 0;
  }

  engine({ phase, done, total }: Progress): void {
    const part = total > 0 ? done / total : 0;
    if (phase === 'storing') this.report('storing', part);
    else if (phase === 'linking') this.report('linking', part);
  }

  report(step: FillStep, part: number): void {
    const work = step === 'saving' ? 1 : this.rows * this.partOfBatch(step, part);
    const words = Math.min(this.target, this.before + (step === 'saving' ? 0 : work));
    const all = Math.max(1, this.target - this.start);
    const rowsDone = (words - this.start) / all;
    const fraction = step === 'saving' ? 1 - savingShare / 2 : rowsDone * (1 - savingShare);
    const elapsed = performance.now() - this.begin;
    this.onProgress({
      step,
      words: Math.floor(words),
      target: this.target,
      fraction,
      wordsPerSecond: elapsed > 300 ? ((words - this.start) / elapsed) * 1000 : 0,
      // An estimate from the first second would jump about.
      remainingMs: elapsed > 1000 && fraction > 0.03 ? (elapsed / fraction) * (1 - fraction) : undefined,
    });
  }

  private partOfBatch(step: FillStep, part: number): number {
    if (step === 'fetching') return share.fetching * part;
    if (step === 'storing') return share.fetching + share.storing * part;
    return share.fetching + share.storing + share.linking * part;
  }
}
