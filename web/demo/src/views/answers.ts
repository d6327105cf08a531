// The list of nearest words. Rows stay and change their contents, so that focus on a row survives a
// new answer and bars glide to their new length.

import { htmlById, make, setText } from '../dom.ts';
import type { Neighbour } from '../store/word-store.ts';
import { hashOf } from '../words/address.ts';

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
  private readonly spoken = htmlById('answer-spoken');
  private readonly rows: readonly Row[];
  private speaking: number | undefined;

  constructor() {
    this.rows = Array.from({ length: answerRows }, (_, index) => makeRow(index + 1));
    this.list.replaceChildren(...this.rows.map((row) => row.item));
    this.list.addEventListener('keydown', (event) => {
      this.key(event);
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
    this.speak(words.length > 0 ? `${title}: ${words.join(', ')}` : `${title}: nothing found`);
  }

  /** Says why there is no answer. */
  explain(title: string, text: string): void {
    setText(this.title, title);
    setText(this.note, text);
    this.note.hidden = false;
    for (const row of this.rows) row.item.hidden = true;
    this.speak(text);
  }

  /** The text is half typed: no reproach yet, the last answer stays in sight. */
  wait(): void {
    this.stale(true);
  }

  private stale(value: boolean): void {
    this.list.dataset['stale'] = String(value);
  }

  // Spoken a moment later, so that a screen reader is not flooded at every key.
  private speak(text: string): void {
    window.clearTimeout(this.speaking);
    this.speaking = window.setTimeout(() => {
      setText(this.spoken, text);
    }, 700);
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const shown = this.rows.filter((row) => !row.item.hidden);
    const at = shown.findIndex((row) => row.link === document.activeElement);
    const next = shown[at + (event.key === 'ArrowDown' ? 1 : -1)];
    if (at < 0 || !next) return;
    event.preventDefault();
    next.link.focus();
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
