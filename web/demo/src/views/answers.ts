// The list of nearest words. Rows stay and change their contents, so that focus on a row survives a
// new answer and bars glide to their new length.

import { hashOf } from '../address.ts';
import { htmlById, make, moveFocus, setText } from '../dom.ts';
import type { Neighbour } from '../store/word-store.ts';
import { Spoken } from './spoken.ts';

export const answerRows = 10;

interface Row {
  readonly item: HTMLElement;
  readonly link: HTMLAnchorElement;
  readonly word: HTMLElement;
  readonly fill: HTMLElement;
  readonly score: HTMLElement;
}

export class Answers {
  private readonly list = htmlById('answers');
  private readonly title = htmlById('answer-title');
  private readonly note = htmlById('answer-note');
  private readonly spoken = new Spoken('answer-spoken');
  private readonly rows: readonly Row[];

  constructor() {
    this.rows = Array.from({ length: answerRows }, (_, index) => makeRow(index + 1));
    this.list.replaceChildren(...this.rows.map((row) => row.item));
    this.list.addEventListener('keydown', (event) => {
      moveFocus(event, this.rows.filter((row) => !row.item.hidden).map((row) => row.link));
    });
  }

  show(title: string, neighbours: readonly Neighbour[]): void {
    setText(this.title, title);
    this.note.hidden = true;
    this.stale(false);
    this.rows.forEach((row, index) => {
      const neighbour = neighbours[index];
      row.item.hidden = neighbour === undefined;
      if (!neighbour) return;
      row.link.href = hashOf(neighbour.word);
      setText(row.word, neighbour.word);
      row.fill.style.transform = `scaleX(${Math.max(0, Math.min(1, neighbour.score)).toFixed(4)})`;
      setText(row.score, neighbour.score.toFixed(3));
    });
    const words = neighbours.map((neighbour) => neighbour.word);
    this.spoken.say(words.length > 0 ? `${title}: ${words.join(', ')}` : `${title}: nothing found`);
  }

  /** Says why there is no answer. */
  explain(title: string, text: string): void {
    setText(this.title, title);
    setText(this.note, text);
    this.note.hidden = false;
    for (const row of this.rows) row.item.hidden = true;
    this.spoken.say(text);
  }

  /** The text is half typed: no reproach yet, the last answer stays in sight. */
  wait(): void {
    this.stale(true);
  }

  private stale(value: boolean): void {
    this.list.dataset['stale'] = String(value);
  }
}

function makeRow(rank: number): Row {
  const word = make('span', { class: 'word' });
  const fill = make('span', { class: 'fill' });
  const score = make('span', { class: 'score' });
  fill.style.transform = 'scaleX(0)';
  const link = make(
    'a',
    {},
    make('span', { class: 'rank', 'aria-hidden': 'true' }, String(rank)),
    word,
    make('span', { class: 'track', 'aria-hidden': 'true' }, fill),
    score,
  );
  const item = make('li', {}, link);
  item.hidden = true;
  return { item, link, word, fill, score };
}
