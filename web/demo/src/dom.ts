// The few DOM helpers that every view uses.

type Constructor<T> = abstract new (...values: never[]) => T;

/** The element of index.html with this id; a missing or different one is a fault of the page. */
export function byId<T extends Element>(id: string, type: Constructor<T>): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`index.html has no ${type.name} with the id "${id}"`);
}

export const htmlById = (id: string): HTMLElement => byId(id, HTMLElement);

/** A new HTML element with attributes and children; text children are never parsed as HTML. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Writes text only when it differs, so that live regions are not announced again for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Up and down arrows go from link to link of a list. */
export function moveFocus(event: KeyboardEvent, links: readonly HTMLElement[]): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const at = links.findIndex((link) => link === document.activeElement);
  const next = links[at + (event.key === 'ArrowDown' ? 1 : -1)];
  if (at < 0 || !next) return;
  event.preventDefault();
  next.focus();
}

/** Calls `work` at most once a frame, however often the returned function is called. */
export function oncePerFrame(work: () => void): () => void {
  let scheduled = false;
  return () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      work();
    });
  };
}
