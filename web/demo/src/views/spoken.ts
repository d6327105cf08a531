// What a screen reader is told of an answer.

import { htmlById, setText } from '../dom.ts';

export class Spoken {
  private readonly element: HTMLElement;
  private timer: number | undefined;

  constructor(id: string) {
    this.element = htmlById(id);
  }

  /** A moment later, so that a screen reader is not flooded at every key. */
  say(text: string): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      setText(this.element, text);
    }, 700);
  }
}
