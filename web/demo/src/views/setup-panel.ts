// The choice of how to get a store, shown when there is none (or only a part of one).

import { htmlById, make, setText } from '../dom.ts';

export interface SetupChoice {
  readonly label: string;
  readonly primary?: boolean;
  readonly run: () => void;
}

export class SetupPanel {
  private readonly section = htmlById('setup');
  private readonly title = htmlById('setup-title');
  private readonly text = htmlById('setup-text');
  private readonly actions = htmlById('setup-actions');
  private readonly note = htmlById('setup-note');

  show(title: string, text: string, choices: readonly SetupChoice[], note = ''): void {
    setText(this.title, title);
    setText(this.text, text);
    setText(this.note, note);
    this.note.hidden = note === '';
    this.actions.replaceChildren(
      ...choices.map(({ label, primary, run }) => {
        const button = make('button', primary ? { type: 'button', class: 'primary' } : { type: 'button' }, label);
        button.addEventListener('click', run);
        return button;
      }),
    );
    this.section.hidden = false;
  }

  hide(): void {
    this.section.hidden = true;
  }

  /** For keyboards: the panel took the place of what had the focus. */
  focus(): void {
    this.actions.querySelector('button')?.focus();
  }
}
