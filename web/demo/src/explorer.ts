// Answers the search field: reads what was typed, asks the store, shows the nearest words. While
// one search is under way the newest text waits and older ones are dropped, so the latest wins.

import { documentsPath, hashOf, queryOf } from './address.ts';
import { htmlById, make, setText } from './dom.ts';
import { count, milliseconds } from './format.ts';
import { latestOnly } from './latest.ts';
import { Recent } from './measure/recent.ts';
import type { Answer, WordStore } from './store/word-store.ts';
import { Answers, answerRows } from './views/answers.ts';
import { SearchBox } from './views/search-box.ts';
import { type Term, combine, describe, normalize, parse } from './words/expression.ts';
import type { Vocabulary } from './words/vocabulary.ts';

const startQuery = 'music';
const examples = [
  'ocean',
  'jazz',
  'python',
  'king - man + woman',
  'paris - france + italy',
  'sushi - japan + germany',
  'bigger - big + small',
];
const tripsKept = 50;
const vectorsKept = 500;

export interface ExplorerEvents {
  ef(): number;
  /** Somebody is doing something: background work should wait. */
  onActivity(): void;
  onError(error: unknown): void;
}

export class Explorer {
  private readonly answers = new Answers();
  private readonly box: SearchBox;
  private readonly trips = new Recent(tripsKept);
  private readonly vectors = new Map<string, Float32Array>();
  private store: WordStore | undefined;
  private known = 0;
  private query = queryOf(location.hash) ?? startQuery;
  private typing = false;
  private readonly ask = latestOnly(
    () => this.answer(),
    (error) => {
      this.events.onError(error);
    },
  );

  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly events: ExplorerEvents,
  ) {
    this.box = new SearchBox((prefix, most) => vocabulary.complete(prefix, most, this.known), {
      onInput: (text) => {
        this.typed(text);
      },
      onCommit: (text) => {
        this.typed(text);
        this.typing = false;
      },
    });
    this.box.text = this.query;
    htmlById('examples').replaceChildren(
      ...examples.map((text) => make('li', {}, make('a', { href: hashOf(text) }, text.replaceAll(' - ', ' − ')))),
    );
    window.addEventListener('hashchange', () => {
      if (location.hash.startsWith(documentsPath)) return;
      this.typing = false;
      this.query = queryOf(location.hash) ?? startQuery;
      this.box.text = this.query;
      this.refresh();
    });
  }

  /** The store to search and how many of its words are there; undefined while there is none. */
  attach(store: WordStore | undefined, known: number): void {
    if (this.store !== store) {
      this.vectors.clear();
      this.trips.clear();
    }
    this.store = store;
    this.known = known;
    this.box.enabled = store !== undefined && known > 0;
    if (store && known > 0) this.refresh();
    else this.answers.explain('Nearest words', 'Answers appear here as soon as the first words are stored.');
    this.showTimes(undefined);
  }

  refresh(): void {
    this.events.onActivity();
    this.ask();
  }

  /** A new `ef` makes a new median. */
  efChanged(): void {
    this.trips.clear();
    this.refresh();
  }

  focus(): void {
    this.box.focus();
  }

  private typed(text: string): void {
    this.query = text;
    const hash = hashOf(normalize(text));
    if (hash !== location.hash) {
      // The first key begins an entry of the history; further keys change that entry.
      if (this.typing) history.replaceState(null, '', hash);
      else history.pushState(null, '', hash);
      this.typing = true;
    }
    this.refresh();
  }

  private async answer(): Promise<void> {
    const store = this.store;
    if (!store || this.known === 0) return;
    const { terms, unknown } = parse(this.query, (word) => (this.vocabulary.rank(word) ?? Infinity) < this.known);
    if (unknown.length > 0) {
      if (this.box.hasCompletions && unknown.length === 1) this.answers.wait();
      else this.answers.explain(this.query, this.unknownText(unknown));
      return;
    }
    if (terms.length === 0) {
      this.answers.explain('Nearest words', 'Type a word, or a sum such as “king − man + woman”.');
      return;
    }
    const vectors = await this.vectorsOf(store, terms);
    const inputs = new Set(terms.map((term) => term.word));
    // The words that were put in are among the nearest nearly always: ask for that many more.
    const answer = await store.nearest(combine(vectors, terms), answerRows + inputs.size, this.events.ef());
    if (store !== this.store) return;
    const shown = answer.neighbours.filter(({ word }) => !inputs.has(word)).slice(0, answerRows);
    this.answers.show(titleOf(terms), shown);
    this.trips.add(answer.tripMs);
    this.showTimes(answer);
  }

  private unknownText(unknown: readonly string[]): string {
    const quoted = unknown.map((word) => `“${word}”`);
    const last = quoted.pop() ?? '';
    const names = quoted.length > 0 ? `${quoted.join(', ')} and ${last} are` : `${last} is`;
    return `${names} not among the ${count(this.known)} words of this store.`;
  }

  private async vectorsOf(store: WordStore, terms: readonly Term[]): Promise<Float32Array[]> {
    const missing = terms.map((term) => term.word).filter((word) => !this.vectors.has(word));
    if (missing.length > 0) {
      const found = await store.vectors(missing);
      missing.forEach((word, index) => {
        const vector = found[index];
        if (!vector) throw new Error(`the store lacks the word “${word}”`);
        this.vectors.set(word, vector);
      });
    }
    const vectors = terms.map((term) => this.vectors.get(term.word) ?? new Float32Array(0));
    if (this.vectors.size > vectorsKept) this.vectors.clear();
    return vectors;
  }

  private showTimes(answer: Answer | undefined): void {
    const trip = htmlById('time-trip');
    const median = htmlById('time-median');
    const distances = htmlById('time-distances');
    if (!answer) {
      for (const element of [trip, median, distances]) setText(element, '–');
      return;
    }
    setText(trip, milliseconds(answer.tripMs));
    setText(median, milliseconds(this.trips.median));
    setText(htmlById('time-median-name'), `Median of ${this.trips.size}`);
    const share = (100 * answer.distances) / Math.max(1, this.known);
    const ofWords = `${share < 10 ? share.toFixed(1) : share.toFixed(0)} % of words`;
    distances.replaceChildren(count(answer.distances), ' ', make('small', {}, ofWords));
  }
}

function titleOf(terms: readonly Term[]): string {
  const [only] = terms;
  return terms.length === 1 && only ? `Nearest to ${only.word}` : `${describe(terms)} ≈`;
}
