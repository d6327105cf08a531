// Asks before the store is deleted.

import { byId, htmlById, setText } from '../dom.ts';
import { count } from '../format.ts';

/** Resolves to whether the person confirmed; Escape and the other button mean no. */
export function confirmDelete(words: number): Promise<boolean> {
  const dialog = byId('confirm', HTMLDialogElement);
  setText(
    htmlById('confirm-text'),
    `${count(words)} words and their graph are removed from this device. They can be built again at any time.`,
  );
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => { resolve(dialog.returnValue === 'delete'); }, { once: true });
  });
}
