// One column of documents in an order: how they were found, what matches in them, and where they stand in the
// other columns.

import { type Answered, type Hit } from '../store/document-store.ts';
import { make, moveFocus, setText } from '../dom.ts';
import { count, milliseconds } from '../format.ts';

export const pageRows = 10;
const excerptLength = 190;

/** What `explain` calls a plan, for people. */
const plans: Readonly<Record<string, string>> = {
  scan: 'all compared',
  'code-scan': 'codes compared',
  'bridged-walk': 'along matches',
  walk: 'along the graph',
  text: 'index of words',
  order: 'sorted',
};

export interface RankingEvents {
  onMore(): void;
  /** The address that asks for documents like this one. */
  likeOf(id: string): string;
}

export class Ranking {
  readonly element: HTMLElement;
  private readonly plan = make('dd');
  private readonly found = make('dd');
  private readonly time = make('dd');
  private readonly note = make('p', { class: 'answer-note' });
  private readonly list: HTMLOListElement;
  private readonly more = make('button', { type: 'button', class: 'more' });
  private readonly hits: Hit[] = [];
  private total = 0;
  private best = 0;

  constructor(
    /** In the address of a filter, in a class, and in what the other columns say. */
    readonly name: string,
    title: string,
    score: string,
    private readonly events: RankingEvents,
  ) {
    const heading = make('h2', { id: `ranking-${name}` }, title, ' ', make('small', {}, score));
    this.list = make('ol', { class: 'documents', 'aria-labelledby': heading.id });
    const facts = make('dl', { class: 'timing' });
    for (const [term, value] of [['Plan', this.plan], ['Found', this.found], ['Time', this.time]] as const) {
      facts.append(make('div', {}, make('dt', {}, term), value));
    }
    this.element = make(
      'section',
      { class: `card ranking ranking-${name}`, 'aria-labelledby': heading.id },
      heading,
      facts,
      this.note,
      this.list,
      this.more,
    );
    this.more.addEventListener('click', () => {
      events.onMore();
    });
    this.list.addEventListener('keydown', (event) => {
      moveFocus(event, [...this.list.querySelectorAll('a')]);
    });
    this.explain('Results appear here as soon as the documents are stored.');
  }

  get shown(): number {
    return this.hits.length;
  }

  /** The ids in their order. */
  get ids(): string[] {
    return this.hits.map(({ id }) => String(id));
  }

  /** A new answer out of `size` documents; `total` is how many its pages can show, and the note goes above them. */
  show(answer: Answered, size: number, total: number, note: string): void {
    const { plan, matches = size, textMatches, tripMs } = answer;
    this.facts(plan, milliseconds(tripMs), textMatches ?? matches, textMatches === undefined ? size : matches, textMatches !== undefined);
    this.total = total;
    this.best = answer.hits[0]?.score ?? 0;
    setText(this.note, note);
    this.note.hidden = note === '';
    const focused = this.list.contains(document.activeElement) ? itemOf(document.activeElement)?.dataset['id'] : undefined;
    this.hits.length = 0;
    this.list.replaceChildren();
    this.add(answer.hits);
    if (focused === undefined) return;
    const items = [...this.list.children].filter((item) => item instanceof HTMLElement);
    const same = items.find((item) => item.dataset['id'] === focused) ?? items[0];
    same?.querySelector('a')?.focus({ preventScroll: true });
  }

  /** The next page. */
  append(hits: readonly Hit[]): void {
    const first = this.hits.length;
    this.add(hits);
    this.list.children[first]?.querySelector('a')?.focus();
  }

  /** Says why there is no answer. */
  explain(text: string): void {
    for (const fact of [this.plan, this.found, this.time]) setText(fact, '–');
    this.hits.length = 0;
    this.list.replaceChildren();
    this.more.hidden = true;
    setText(this.note, text);
    this.note.hidden = false;
  }

  /** Says of each document where the other columns have it. */
  refer(placesOf: (id: string) => string): void {
    for (const item of this.list.children) {
      const places = item.querySelector('.places');
      if (places && item instanceof HTMLElement) setText(places, placesOf(item.dataset['id'] ?? ''));
    }
  }

  private facts(plan: string, time: string, found: number, among: number, byText: boolean): void {
    this.plan.replaceChildren(plan, ' ', make('small', {}, plans[plan] ?? ''));
    this.found.replaceChildren(`${count(found)} of ${count(among)}`, ' ', make('small', {}, byText ? 'have a word' : 'match'));
    this.time.replaceChildren(time, ' ', make('small', {}, 'round trip'));
  }

  private add(hits: readonly Hit[]): void {
    for (const hit of hits) {
      this.hits.push(hit);
      this.list.append(this.item(hit, this.hits.length));
    }
    const left = Math.min(pageRows, this.total - this.hits.length);
    this.more.hidden = left <= 0 || hits.length === 0;
    setText(this.more, `${left} more of ${count(this.total - this.hits.length)}`);
  }

  private item({ id, score, metadata, highlights }: Hit, rank: number): HTMLElement {
    const title = metadata?.title ?? String(id);
    const inTitle = highlights?.['title']?.find(({ text }) => text === title);
    const fill = make('span', { class: 'fill' });
    fill.style.transform = `scaleX(${this.best > 0 ? Math.max(0, score / this.best).toFixed(4) : 0})`;
    return make(
      'li',
      { 'data-id': String(id) },
      make(
        'div',
        { class: 'document-head' },
        make('span', { class: 'rank', 'aria-hidden': 'true' }, String(rank)),
        make('a', { href: this.events.likeOf(String(id)) }, ...(inTitle ? marked(inTitle.text, inTitle.ranges) : [title])),
        make('span', { class: 'score' }, score === 0 ? '' : score.toPrecision(3)),
      ),
      make('span', { class: 'track', 'aria-hidden': 'true' }, fill),
      make('p', { class: 'snippet' }, ...snippet(metadata?.body ?? '', highlights?.['body']?.[0])),
      make(
        'p',
        { class: 'fine' },
        `${metadata?.category ?? ''} · ${count(metadata?.words ?? 0)} words `,
        make('span', { class: 'places' }),
      ),
    );
  }
}

const itemOf = (element: Element | null): HTMLElement | null => element?.closest<HTMLElement>('[data-id]') ?? null;

type Marks = NonNullable<Hit['highlights']>[string][number];

/** The part that matches, or the beginning. */
function snippet(body: string, part: Marks | undefined): (Node | string)[] {
  if (!part) return [body.length > excerptLength ? `${body.slice(0, body.lastIndexOf(' ', excerptLength))} …` : body];
  return [
    body.startsWith(part.text) ? '' : '… ',
    ...marked(part.text, part.ranges),
    body.endsWith(part.text) ? '' : ' …',
  ];
}

/** Text with its matches in <mark>; never parsed as HTML. */
function marked(text: string, ranges: Marks['ranges']): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let at = 0;
  for (const [begin, end] of ranges) {
    parts.push(text.slice(at, begin), make('mark', {}, text.slice(begin, end)));
    at = end;
  }
  parts.push(text.slice(at));
  return parts;
}
