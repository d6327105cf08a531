// The tabs at the top: which of the page's views is shown. The address decides, so that back, forward
// and bookmarks lead to the view they were made in.

import { documentsPath } from '../address.ts';
import { byId } from '../dom.ts';

const views = ['words', 'documents'] as const;
export type View = (typeof views)[number];

const titles: Readonly<Record<View, string>> = { words: 'Word explorer', documents: 'Documents' };

export const viewOf = (hash: string): View => (hash.startsWith(documentsPath) ? 'documents' : 'words');

export class Tabs {
  /** The address after # at which each view was left. */
  private readonly left: Record<View, string> = { words: '', documents: documentsPath };

  constructor(private readonly onShow: (view: View) => void) {
    for (const view of views) {
      const tab = tabOf(view);
      tab.addEventListener('click', () => {
        this.choose(view);
      });
      tab.addEventListener('keydown', (event) => {
        this.key(event, view);
      });
    }
    window.addEventListener('hashchange', ({ oldURL }) => {
      const { hash } = new URL(oldURL);
      this.left[viewOf(hash)] = hash;
      this.show(viewOf(location.hash));
    });
  }

  show(view: View): void {
    for (const name of views) {
      const tab = tabOf(name);
      tab.setAttribute('aria-selected', String(name === view));
      tab.tabIndex = name === view ? 0 : -1;
    }
    for (const part of document.querySelectorAll<HTMLElement>('[data-view]')) part.hidden = part.dataset['view'] !== view;
    document.title = `${titles[view]} · Nearfield`;
    this.onShow(view);
  }

  private choose(view: View): void {
    if (view !== viewOf(location.hash)) location.hash = this.left[view];
  }

  private key(event: KeyboardEvent, view: View): void {
    const at = views.indexOf(view);
    const places: Readonly<Record<string, number>> = {
      ArrowLeft: (at + views.length - 1) % views.length,
      ArrowRight: (at + 1) % views.length,
      Home: 0,
      End: views.length - 1,
    };
    const next = views[places[event.key] ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    tabOf(next).focus();
    this.choose(next);
  }
}

const tabOf = (view: View): HTMLButtonElement => byId(`tab-${view}`, HTMLButtonElement);
