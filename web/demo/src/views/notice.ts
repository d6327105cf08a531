// One clear message when something failed: what, and what to do about it.

import { NearfieldError } from 'nearfield';
import { htmlById, make, setText } from '../dom.ts';
import { DataError } from '../data/fetch.ts';

export interface NoticeAction {
  readonly label: string;
  readonly run: () => void;
}

interface Advice {
  readonly title: string;
  readonly text: string;
}

/** The data that a store is made of. */
export interface Subject {
  readonly name: string;
  /** As bench/datasets/prepare.mjs knows it. */
  readonly set: string;
}

export class Notice {
  private readonly section: HTMLElement;
  private readonly title: HTMLElement;
  private readonly text: HTMLElement;
  private readonly actions: HTMLElement;

  constructor(
    id: string,
    private readonly subject: Subject,
  ) {
    this.section = htmlById(id);
    this.title = htmlById(`${id}-title`);
    this.text = htmlById(`${id}-text`);
    this.actions = htmlById(`${id}-actions`);
  }

  show(error: unknown, actions: readonly NoticeAction[]): void {
    const { title, text } = adviceFor(error, this.subject);
    setText(this.title, title);
    setText(this.text, text);
    this.actions.replaceChildren(
      ...actions.map(({ label, run }, index) => {
        const button = make('button', index === 0 ? { type: 'button', class: 'primary' } : { type: 'button' }, label);
        button.addEventListener('click', () => {
          this.hide();
          run();
        });
        return button;
      }),
    );
    this.section.hidden = false;
  }

  hide(): void {
    this.section.hidden = true;
  }
}

function adviceFor(error: unknown, subject: Subject): Advice {
  if (error instanceof DataError) return adviceForData(error, subject);
  if (error instanceof NearfieldError) return adviceForStore(error);
  const detail = error instanceof Error ? error.message : String(error);
  return { title: 'Something failed', text: `${detail}. Reloading the page may help; what is stored is kept.` };
}

function adviceForData(error: DataError, { name, set }: Subject): Advice {
  switch (error.problem) {
    case 'missing':
      return {
        title: `The ${name} are not on this server`,
        text: `${error.url} was not found. Start the page with “npm start”, which prepares the data, or run “node bench/datasets/prepare.mjs ${set}”.`,
      };
    case 'offline':
      return {
        title: 'The server does not answer',
        text: `${error.message}. Check the connection and try again; what is stored is kept.`,
      };
    case 'unreadable':
      return { title: `The ${name} could not be read`, text: `${error.message}. Try again.` };
  }
}

function adviceForStore(error: NearfieldError): Advice {
  switch (error.code) {
    case 'LOCKED':
      return {
        title: 'The store is open in another tab',
        text: 'One tab writes at a time. Close the other tab and try again, or look without changing anything.',
      };
    case 'QUOTA':
      return {
        title: 'The browser has no room left for the store',
        text: `${error.message}. What is here stays searchable until this page is closed. Free some space and save again, or delete the store.`,
      };
    case 'CORRUPT':
    case 'FOREIGN_FILE':
      return {
        title: 'The stored data cannot be read',
        text: `${error.message}. Start over with a new store; the old data is left alone.`,
      };
    case 'NEWER_VERSION':
      return {
        title: 'The store was written by a later version',
        text: `${error.message}. Reload to get the latest page, or start over with a new store.`,
      };
    case 'OUT_OF_MEMORY':
      return {
        title: 'There is not enough memory',
        text: `${error.message}. Close other tabs, or keep to fewer words.`,
      };
    case 'UNSUPPORTED':
      return {
        title: 'This browser cannot run the engine',
        text: `${error.message}. WebAssembly with SIMD is needed: Chrome 91, Firefox 89, Safari 16.4 or later.`,
      };
    default:
      return { title: 'The store reported a failure', text: `${error.message} (${error.code}). Try again.` };
  }
}
