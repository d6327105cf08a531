// The search field: a combobox whose completions lie in a row below it (the listbox pattern), so
// that they never cover the answers.

import { byId, htmlById, make, setText } from '../dom.ts';
import { lastToken } from '../words/expression.ts';

export interface SearchBoxEvents {
  /** The text changed by typing or by taking a completion. */
  onInput(text: string): void;
  /** Enter: the text is meant as it stands. */
  onCommit(text: string): void;
}

const most = 8;
const hint = 'Arrow keys choose a completion, Enter takes it.';

export class SearchBox {
  private readonly input = byId('query', HTMLInputElement);
  private readonly list = htmlById('completions');
  private readonly note = htmlById('query-note');
  private options: readonly string[] = [];
  private active = -1;

  constructor(
    private readonly complete: (prefix: string, most: number) => readonly string[],
    private readonly events: SearchBoxEvents,
  ) {
    byId('search', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      this.enter();
    });
    this.input.addEventListener('input', () => {
      this.suggest();
      this.events.onInput(this.text);
    });
    this.input.addEventListener('keydown', (event) => {
      this.key(event);
    });
    this.input.addEventListener('blur', () => {
      this.close();
    });
    // The field keeps the focus while an option is clicked.
    this.list.addEventListener('pointerdown', (event) => {
      event.preventDefault();
    });
    this.list.addEventListener('click', (event) => {
      const option = event.target instanceof Element ? event.target.closest('li') : null;
      const word = option ? this.options[Number(option.dataset['index'])] : undefined;
      if (word !== undefined) this.take(word);
    });
  }

  get text(): string {
    return this.input.value;
  }

  set text(value: string) {
    if (this.input.value !== value) this.input.value = value;
    this.close();
  }

  set enabled(value: boolean) {
    this.input.disabled = !value;
  }

  focus(): void {
    this.input.focus();
  }

  /** Whether something could still be completed: the text may just be half typed. */
  get hasCompletions(): boolean {
    return this.options.length > 0;
  }

  private suggest(): void {
    const { token } = lastToken(this.text);
    this.options = this.complete(token, most);
    this.active = -1;
    this.list.replaceChildren(
      ...this.options.map((word, index) =>
        make(
          'li',
          { id: `completion-${index}`, role: 'option', 'aria-selected': 'false', 'data-index': String(index) },
          token,
          make('b', {}, word.slice(token.length)),
        ),
      ),
    );
    this.show(this.options.length > 0);
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const last = this.options.length - 1;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (last < 0) return;
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      // One place before the first option is the field itself.
      this.active = this.active + step > last ? -1 : this.active + step < -1 ? last : this.active + step;
      this.mark();
    } else if (event.key === 'Escape' && last >= 0) {
      event.preventDefault();
      this.close();
    } else if (event.key === 'Tab' && this.active >= 0) {
      const word = this.options[this.active];
      if (word === undefined) return;
      event.preventDefault();
      this.take(word);
    }
  }

  private enter(): void {
    const word = this.options[this.active];
    if (word !== undefined) this.take(word);
    this.close();
    this.events.onCommit(this.text);
  }

  private take(word: string): void {
    const { before } = lastToken(this.text);
    this.input.value = before + word;
    this.close();
    this.events.onInput(this.text);
  }

  private mark(): void {
    Array.from(this.list.children).forEach((option, index) => {
      const selected = index === this.active;
      option.setAttribute('aria-selected', String(selected));
      if (selected) option.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
    if (this.active < 0) this.input.removeAttribute('aria-activedescendant');
    else this.input.setAttribute('aria-activedescendant', `completion-${this.active}`);
  }

  private close(): void {
    this.options = [];
    this.active = -1;
    this.list.replaceChildren();
    this.show(false);
  }

  private show(open: boolean): void {
    this.list.hidden = !open;
    this.note.hidden = open;
    setText(this.note, hint);
    this.input.setAttribute('aria-expanded', String(open));
    if (this.active < 0) this.input.removeAttribute('aria-activedescendant');
  }
}
