// What a reload shows: the time of building the store beside the time of opening it again.

import { byId, htmlById, make } from '../dom.ts';
import { count, milliseconds, times } from '../format.ts';
import type { BuildRecord } from '../store/record.ts';

export interface Reopened {
  readonly ms: number;
  /** The part of it that started the worker and loaded the engine's code. */
  readonly engineMs: number;
  readonly distances: number;
  readonly words: number;
}

export class ReopenPanel {
  private readonly section = htmlById('reopen');
  private readonly title = htmlById('reopen-title');
  private readonly line = htmlById('reopen-line');
  private readonly bars = htmlById('reopen-bars');

  constructor(onReload: () => void) {
    byId('reload', HTMLButtonElement).addEventListener('click', onReload);
  }

  hide(): void {
    this.section.hidden = true;
  }

  /** Right after a build: what the reload is going to show. */
  showBuilt(build: BuildRecord): void {
    this.title.textContent = `${build.how === 'packed' ? 'Fetched' : 'Built'} and kept on this device`;
    const did = build.how === 'packed' ? 'Fetching and storing the packed store took ' : 'Storing and linking took ';
    this.line.replaceChildren(
      did,
      make('strong', {}, milliseconds(build.engineMs)),
      build.distances > 0 ? ` and ${count(build.distances)} distance computations. ` : '. ',
      'Reload to see it opened again instead of built.',
    );
    this.bars.hidden = true;
    this.section.hidden = false;
  }

  showReopened(reopened: Reopened, build: BuildRecord | undefined): void {
    this.title.textContent = `Reopened in ${milliseconds(reopened.ms)}, not rebuilt`;
    const comparable = build?.rows === reopened.words ? build : undefined;
    const did = comparable?.how === 'packed' ? 'fetching it' : 'building it';
    this.line.replaceChildren(
      ...(comparable
        ? [make('strong', {}, `${times(comparable.engineMs / reopened.ms)} faster`), ` than ${did}, with `]
        : [`${count(reopened.words)} words, with `]),
      make('strong', {}, `${count(reopened.distances)} distances computed`),
      `. Loading the engine is included: ${milliseconds(reopened.engineMs)}.`,
    );
    this.bars.hidden = comparable === undefined;
    if (comparable) {
      this.bars.replaceChildren(
        bar(comparable.how === 'packed' ? 'Fetch' : 'Build', comparable.engineMs, 1, 'bar'),
        bar('Reopen', reopened.ms, reopened.ms / comparable.engineMs, 'bar fast'),
      );
    }
    this.section.hidden = false;
  }
}

function bar(name: string, ms: number, share: number, style: string): HTMLElement {
  const fill = make('span', { class: style });
  fill.style.width = `${Math.min(100, share * 100).toFixed(2)}%`;
  return make('div', {}, make('dt', {}, name), make('dd', {}, fill, make('span', { class: 'amount' }, milliseconds(ms))));
}
