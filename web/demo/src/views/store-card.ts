// What the store holds and where: counts, sizes by kind, memory, whether it outlives the page.

import { byId, htmlById, make, setText } from '../dom.ts';
import { bytes, count } from '../format.ts';
import type { StoreFacts } from '../store/word-store.ts';

export interface StoreEvents {
  onGrow(): void;
  onPersist(): void;
  onDelete(): void;
}

export interface StorePlace {
  readonly kind: 'indexeddb' | 'opfs' | 'memory' | 'folder';
  readonly persisted: boolean;
  readonly warning: string | undefined;
}

const places: Readonly<Record<StorePlace['kind'], string>> = {
  indexeddb: 'IndexedDB, on this device',
  opfs: 'files of the browser, on this device',
  memory: 'memory only, gone with the page',
  folder: 'a folder',
};

/** How kinds of data are told; kinds with one name add up, and others are shown as they are. */
const kindNames: Readonly<Record<string, string>> = {
  rows: 'Vectors (f32)',
  codes: 'Codes (7 bit)',
  links: 'Graph links',
  seeds: 'Graph links',
  ids: 'Words (ids)',
  'id-texts': 'Words (ids)',
  metadata: 'Metadata',
};

export class StoreCard {
  private readonly facts = htmlById('store-facts');
  private readonly kinds = htmlById('store-kinds');
  private readonly note = htmlById('store-note');
  private readonly grow = byId('grow', HTMLButtonElement);
  private readonly persist = byId('persist', HTMLButtonElement);
  private readonly remove = byId('delete', HTMLButtonElement);

  constructor(events: StoreEvents) {
    this.grow.addEventListener('click', () => {
      events.onGrow();
    });
    this.persist.addEventListener('click', () => {
      events.onPersist();
    });
    this.remove.addEventListener('click', () => {
      events.onDelete();
    });
  }

  show(facts: StoreFacts, place: StorePlace): void {
    const unlinked = facts.count - facts.linked;
    const lines: [string, string][] = [
      ['Words', `${count(facts.count)}${unlinked > 0 ? ` (${count(unlinked)} not linked yet)` : ''}`],
      ['Kept in', places[place.kind]],
      ...(place.kind === 'indexeddb'
        ? [['Protected', place.persisted ? 'yes, the browser keeps it' : 'no, cleared when space runs out'] as [string, string]]
        : []),
      ['In storage', bytes(facts.storedBytes)],
      ['In memory', `${bytes(facts.memoryBytes)} (engine ${bytes(facts.engineBytes)})`],
      ['Engine', `WebAssembly ${facts.variant}, kernels ${facts.kernels}`],
    ];
    this.facts.replaceChildren(...lines.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
    this.showKinds(facts.bytesByKind);
    setText(this.note, place.warning ?? '');
  }

  /** Which buttons make sense at present. */
  allow(options: { readonly grow: number | undefined; readonly persist: boolean; readonly remove: boolean }): void {
    this.grow.hidden = options.grow === undefined;
    if (options.grow !== undefined) setText(this.grow, `Add all ${count(options.grow)} words`);
    this.persist.hidden = !options.persist;
    this.remove.hidden = !options.remove;
  }

  say(text: string): void {
    setText(this.note, text);
  }

  /** While there is nothing else to tell. */
  showCount(words: number): void {
    const value = words === 0 ? 'none yet' : `${count(words)} so far`;
    this.facts.replaceChildren(make('dt', {}, 'Words'), make('dd', {}, value));
    this.kinds.replaceChildren();
    setText(this.note, '');
  }

  private showKinds(byKind: Readonly<Record<string, number>>): void {
    const byName = new Map<string, number>();
    for (const [kind, size] of Object.entries(byKind)) {
      const name = kindNames[kind] ?? kind;
      if (size > 0) byName.set(name, (byName.get(name) ?? 0) + size);
    }
    const sorted = [...byName].sort(([, a], [, b]) => b - a);
    // Five colours are told apart easily; smaller kinds share the last one.
    const shown = sorted.slice(0, 4);
    const rest = sorted.slice(4).reduce((sum, [, size]) => sum + size, 0);
    const parts: [string, number][] = rest > 0 ? [...shown, ['Other', rest]] : shown;
    const bar = make('div', { class: 'stack', 'aria-hidden': 'true' });
    const legend = make('ul', { class: 'legend', 'aria-label': 'Bytes in storage by kind' });
    parts.forEach(([name, size], index) => {
      const slice = make('span', { class: `kind-${index + 1}` });
      slice.style.flex = `${size} 0 2px`;
      bar.append(slice);
      legend.append(
        make(
          'li',
          {},
          make('i', { class: `kind-${index + 1}`, 'aria-hidden': 'true' }),
          make('span', {}, name),
          make('span', {}, bytes(size)),
        ),
      );
    });
    this.kinds.replaceChildren(...(parts.length > 0 ? [bar, legend] : []));
  }
}
