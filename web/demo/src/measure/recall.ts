// Measures recall@10 and the time of a search over a ladder of `ef` values, in the background: a
// sample of words is searched exactly once, and then at each `ef`. Work is cut into short slices
// that wait while somebody types, so that the search field never feels it.

import type { WordStore } from '../store/word-store.ts';
import { dimensions } from '../words/vectors.ts';
import { median } from './recent.ts';

/** The stops of the slider, about evenly spaced on a logarithmic scale. */
export const efStops = [
  10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800,
] as const;

/** The stops that are always measured, for the chart. */
const ladder = [10, 20, 40, 80, 150, 300, 800];

export const sampleSize = 96;
const k = 10;
const batch = 12; // searches in one call: the messages' share of the time becomes small
const exactBatch = 3; // exact searches are long, and a slice must stay short
const quietMs = 350; // how long nothing was typed before a slice may run

export interface Measured {
  readonly ef: number;
  readonly recall: number;
  /** Of one search; the median over the sample's batches. */
  readonly ms: number;
  readonly distances: number;
}

export interface RecallState {
  readonly measured: readonly Measured[];
  /** 0..1 of the work that is wanted at present. */
  readonly progress: number;
  readonly busy: boolean;
  /** The median time of an exact search, for comparison. */
  readonly exactMs: number | undefined;
}

interface Sample {
  readonly words: string[];
  readonly vectors: Float32Array;
  readonly truth: Set<string>[];
}

export class RecallMeter {
  private run = 0;
  private wanted = 100;
  private busySince = 0;
  private readonly results = new Map<number, Measured>();
  private exactMs: number | undefined;
  private sample: Sample | undefined;
  private pump: Promise<void> | undefined;
  private wake: (() => void) | undefined;

  constructor(private readonly onChange: (state: RecallState) => void) {}

  /** Puts measuring off for a moment, because the person is doing something. */
  postpone(): void {
    this.busySince = performance.now();
  }

  /** Forgets everything and measures this store, or stops when there is none. */
  restart(store: WordStore | undefined, words: readonly string[]): void {
    this.run += 1;
    this.wake?.(); // a run that has nothing left to measure sleeps; it must end first
    this.results.clear();
    this.sample = undefined;
    this.exactMs = undefined;
    this.emit(false, 0);
    if (store && words.length > 0) void this.work(this.run, store, words);
  }

  /** Also measures this `ef`, before the rest of the ladder. */
  want(ef: number): void {
    this.wanted = ef;
    this.wake?.();
  }

  get(ef: number): Measured | undefined {
    return this.results.get(ef);
  }

  private async work(run: number, store: WordStore, words: readonly string[]): Promise<void> {
    try {
      await this.pump; // the run before this one ends at its next slice
      this.pump = this.measure(run, store, words);
      await this.pump;
    } catch {
      // The store was closed or emptied meanwhile; what replaces it starts a run of its own.
      if (run === this.run) this.emit(false, 0);
    }
  }

  private async measure(run: number, store: WordStore, words: readonly string[]): Promise<void> {
    const current = (): boolean => run === this.run;
    this.sample = await this.takeSample(run, store, words);
    while (current() && this.sample) {
      const next = this.next();
      if (next === undefined) {
        this.emit(false, 1);
        await new Promise<void>((resolve) => (this.wake = resolve));
        continue;
      }
      const measured = await this.measureEf(run, store, next);
      if (measured && current()) {
        this.results.set(next, measured);
        this.emit(true, this.share());
      }
    }
  }

  private next(): number | undefined {
    return [this.wanted, ...ladder].find((ef) => !this.results.has(ef));
  }

  private share(): number {
    const wanted = new Set([this.wanted, ...ladder]);
    const done = [...wanted].filter((ef) => this.results.has(ef)).length;
    return 0.3 + (0.7 * done) / wanted.size;
  }

  private async takeSample(
    run: number,
    store: WordStore,
    all: readonly string[],
  ): Promise<Sample | undefined> {
    const words = pick(all, sampleSize);
    const found = await store.vectors(words);
    const present = words.filter((_, index) => found[index] !== undefined);
    const vectors = new Float32Array(present.length * dimensions);
    found
      .filter((vector) => vector !== undefined)
      .forEach((vector, index) => vectors.set(vector, index * dimensions));

    const truth: Set<string>[] = [];
    const perSearch: number[] = [];
    for (let at = 0; at < present.length; at += exactBatch) {
      await this.slice();
      if (run !== this.run) return undefined;
      const part = vectors.slice(at * dimensions, (at + exactBatch) * dimensions);
      const { words: lists, ms } = await store.nearestMany(part, k + 1, k + 1, true);
      perSearch.push(ms / lists.length);
      lists.forEach((list, index) => truth.push(new Set(withoutSelf(list, present[at + index]))));
      this.emit(true, (0.3 * truth.length) / present.length);
    }
    this.exactMs = median(perSearch);
    return { vectors, words: present, truth };
  }

  private async measureEf(run: number, store: WordStore, ef: number): Promise<Measured | undefined> {
    const sample = this.sample;
    if (!sample) return undefined;
    let hits = 0;
    let possible = 0;
    let distances = 0;
    const perSearch: number[] = [];
    for (let at = 0; at < sample.words.length; at += batch) {
      await this.slice();
      if (run !== this.run) return undefined;
      const part = sample.vectors.slice(at * dimensions, (at + batch) * dimensions);
      const answer = await store.nearestMany(part, k + 1, ef);
      perSearch.push(answer.ms / answer.words.length);
      distances += answer.distances;
      answer.words.forEach((list, index) => {
        const truth = sample.truth[at + index] ?? new Set<string>();
        possible += truth.size;
        hits += withoutSelf(list, sample.words[at + index]).filter((word) => truth.has(word)).length;
      });
    }
    return {
      ef,
      recall: possible === 0 ? 1 : hits / possible,
      ms: median(perSearch),
      distances: Math.round(distances / sample.words.length),
    };
  }

  /** Resolves when a slice may run: the page is visible and nobody has typed for a moment. */
  private async slice(): Promise<void> {
    do {
      await new Promise((resolve) => setTimeout(resolve, 4));
    } while (document.hidden || performance.now() - this.busySince < quietMs);
  }

  private emit(busy: boolean, progress: number): void {
    const measured = [...this.results.values()].sort((a, b) => a.ef - b.ef);
    this.onChange({ measured, progress, busy, exactMs: this.exactMs });
  }
}

/** The query's own word is always its nearest, so it would flatter the figure. */
const withoutSelf = (list: readonly string[], self: string | undefined): string[] =>
  list.filter((word) => word !== self).slice(0, k);

/** A spread of words that is the same at every visit, so that figures can be compared. */
function pick(words: readonly string[], most: number): string[] {
  const picked = new Set<string>();
  let state = 12345;
  for (let tries = 0; picked.size < Math.min(most, words.length) && tries < most * 20; tries += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const word = words[Math.floor((state / 2 ** 32) * words.length)];
    if (word !== undefined) picked.add(word);
  }
  return [...picked];
}
