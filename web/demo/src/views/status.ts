// The pill at the top of the page: in one or two words, how a store is.

import { htmlById, setText } from '../dom.ts';

export type Tone = 'busy' | 'idle' | 'ready' | 'failed';

export function showStatus(id: string, tone: Tone, text: string): void {
  const element = htmlById(id);
  element.dataset['tone'] = tone;
  setText(element, text);
}
