// Progress of a build or a download, with its cancel button.

import { byId, htmlById, setText, oncePerFrame } from '../dom.ts';
import { bytes, count, remaining } from '../format.ts';
import type { FillProgress, FillStep } from '../store/fill.ts';

const stepNames: Readonly<Record<FillStep, string>> = {
  fetching: 'Downloading vectors',
  storing: 'Storing rows',
  linking: 'Linking the graph',
  saving: 'Saving to the browser’s storage',
};

export class BuildPanel {
  private readonly section = htmlById('build');
  private readonly title = htmlById('build-title');
  private readonly bar = byId('build-bar', HTMLProgressElement);
  private readonly step = htmlById('build-step');
  private readonly rate = htmlById('build-rate');
  private readonly left = htmlById('build-left');
  private readonly spoken = htmlById('build-spoken');
  private readonly cancel = byId('build-cancel', HTMLButtonElement);
  private latest: FillProgress | undefined;
  private spokenTenth = -1;
  private readonly paint = oncePerFrame(() => {
    if (this.latest) this.show(this.latest);
  });

  constructor(onCancel: () => void) {
    this.cancel.addEventListener('click', () => {
      this.cancel.disabled = true;
      setText(this.step, 'Stopping…');
      onCancel();
    });
  }

  start(title: string): void {
    setText(this.title, title);
    this.latest = undefined;
    this.spokenTenth = -1;
    this.bar.value = 0;
    this.cancel.disabled = false;
    setText(this.step, 'Starting…');
    setText(this.rate, '');
    setText(this.left, '');
    this.section.hidden = false;
  }

  fill(progress: FillProgress): void {
    this.latest = progress;
    this.paint();
  }

  download(done: number, total: number): void {
    if (total > 0) this.bar.value = done / total;
    else this.bar.removeAttribute('value');
    setText(this.step, `Fetching the packed store: ${bytes(done)}${total > 0 ? ` of ${bytes(total)}` : ''}`);
  }

  /** Whether the person who started it with the keyboard had the focus here. */
  get hasFocus(): boolean {
    return this.section.contains(document.activeElement);
  }

  end(): void {
    this.latest = undefined;
    this.section.hidden = true;
  }

  private show(progress: FillProgress): void {
    this.bar.value = progress.fraction;
    if (!this.cancel.disabled) {
      const words = `${count(progress.words)} of ${count(progress.target)} words`;
      setText(this.step, `${stepNames[progress.step]}: ${words}`);
    }
    setText(this.rate, progress.wordsPerSecond > 0 ? `${count(progress.wordsPerSecond)} words/s` : '');
    setText(this.left, progress.remainingMs === undefined ? '' : remaining(progress.remainingMs));
    // Spoken at every tenth only.
    const tenth = Math.floor(progress.fraction * 10);
    if (tenth === this.spokenTenth) return;
    this.spokenTenth = tenth;
    setText(this.spoken, `${tenth * 10} percent built`);
  }
}
