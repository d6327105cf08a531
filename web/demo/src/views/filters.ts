// The filters of the documents: facets as chips with their counts, a range, and JSON.

import type { FacetCount } from 'nearfield';
import { type Question, filtersOf, wholeNumber, withoutFilters } from '../documents/question.ts';
import { byId, htmlById, make, setText } from '../dom.ts';
import { count } from '../format.ts';

type Facet = 'categories' | 'tags';
type Change = Partial<Question>;

export class Filters {
  private readonly details = byId('docs-filters', HTMLDetailsElement);
  private readonly lists: Readonly<Record<Facet, HTMLElement>> = {
    categories: htmlById('docs-categories'),
    tags: htmlById('docs-tags'),
  };
  private readonly from = byId('docs-from', HTMLInputElement);
  private readonly to = byId('docs-to', HTMLInputElement);
  private readonly where = byId('docs-where', HTMLTextAreaElement);
  private readonly error = htmlById('docs-where-error');
  private readonly clear = byId('docs-clear', HTMLButtonElement);
  private question: Pick<Question, Facet> = withoutFilters;

  /** `typing`: one of many changes in a row. */
  constructor(private readonly onChange: (change: Change, typing: boolean) => void) {
    // On a phone they would push the results out of sight.
    this.details.open = matchMedia('(min-width: 58rem)').matches;
    const typed = (input: HTMLElement, change: () => Change): void => {
      input.addEventListener('input', () => {
        onChange(change(), true);
      });
    };
    typed(this.from, () => ({ from: wholeNumber(this.from.value) }));
    typed(this.to, () => ({ to: wholeNumber(this.to.value) }));
    typed(this.where, () => ({ where: this.where.value }));
    this.clear.addEventListener('click', () => {
      onChange(withoutFilters, false);
      this.details.querySelector('summary')?.focus();
    });
  }

  /** What the address says, in the fields; one that is being typed in stays as it is. */
  set(question: Question): void {
    const write = (input: HTMLInputElement | HTMLTextAreaElement, value: string): void => {
      if (input !== document.activeElement) input.value = value;
    };
    write(this.from, String(question.from ?? ''));
    write(this.to, String(question.to ?? ''));
    write(this.where, question.where);
    this.question = question;
    const filters = filtersOf(question);
    setText(htmlById('docs-filter-count'), filters > 0 ? `${filters} set` : '');
    this.clear.hidden = filters === 0;
  }

  /** The values to choose from, in their order; what is chosen stays even when nothing has it any more. */
  show(facet: Facet, values: readonly FacetCount[]): void {
    const chosen = this.question[facet];
    const known = new Set(values.map(({ value }) => value));
    const lost = chosen.filter((value) => !known.has(value)).map((value) => ({ value, count: 0 }));
    const list = this.lists[facet];
    const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute('data-value') : null;
    list.replaceChildren(
      ...[...lost, ...values].map((entry) => make('li', {}, this.chip(facet, entry, chosen.includes(entry.value)))),
    );
    if (focused !== null) list.querySelector<HTMLElement>(`[data-value="${CSS.escape(focused ?? '')}"]`)?.focus();
  }

  /** The sentence that says what is wrong with the JSON; undefined: nothing is. */
  reject(sentence: string | undefined): void {
    setText(this.error, sentence ?? '');
    this.where.setAttribute('aria-invalid', String(sentence !== undefined));
    if (sentence !== undefined) this.details.open = true; // the address may have brought it
  }

  private chip(facet: Facet, { value, count: amount }: FacetCount, pressed: boolean): HTMLElement {
    const chip = make(
      'button',
      { type: 'button', 'aria-pressed': String(pressed), 'data-value': value },
      value,
      ' ',
      make('span', { class: 'amount' }, count(amount)),
    );
    chip.addEventListener('click', () => {
      const chosen = this.question[facet];
      const next = pressed ? chosen.filter((other) => other !== value) : [...chosen, value];
      this.onChange({ [facet]: next }, false);
    });
    return chip;
  }
}
