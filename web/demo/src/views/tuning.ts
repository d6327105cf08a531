// The slider for `ef`, the figures measured at its value, and the chart over the whole ladder.

import { byId, htmlById, setText } from '../dom.ts';
import { count, milliseconds, percent } from '../format.ts';
import { type RecallState, efStops, sampleSize } from '../measure/recall.ts';
import { Chart } from './chart.ts';

const startStop = efStops.indexOf(100);

export class Tuning {
  private readonly slider = byId('ef', HTMLInputElement);
  private readonly output = htmlById('ef-value');
  private readonly recall = htmlById('tune-recall');
  private readonly time = htmlById('tune-time');
  private readonly distances = htmlById('tune-distances');
  private readonly note = htmlById('tune-note');
  private readonly chart = new Chart((ef) => {
    this.choose(ef);
  });
  private state: RecallState = { measured: [], progress: 0, busy: false, exactMs: undefined };

  constructor(private readonly onEf: (ef: number) => void) {
    this.slider.max = String(efStops.length - 1);
    this.slider.value = String(startStop);
    this.slider.addEventListener('input', () => {
      this.paint();
      this.onEf(this.ef);
    });
    this.paint();
  }

  get ef(): number {
    return efStops[Number(this.slider.value)] ?? 100;
  }

  show(state: RecallState): void {
    this.state = state;
    this.paint();
  }

  private choose(ef: number): void {
    const stop = (efStops as readonly number[]).indexOf(ef);
    if (stop < 0) return;
    this.slider.value = String(stop);
    this.paint();
    this.onEf(this.ef);
  }

  private paint(): void {
    const { measured, progress, busy, exactMs } = this.state;
    const now = measured.find((point) => point.ef === this.ef);
    setText(this.output, String(this.ef));
    this.slider.setAttribute('aria-valuetext', `ef ${this.ef}`);
    setText(this.recall, now ? percent(now.recall) : busy ? '…' : '–');
    setText(this.time, now ? milliseconds(now.ms) : busy ? '…' : '–');
    setText(this.distances, now ? count(now.distances) : busy ? '…' : '–');
    this.chart.draw(measured, this.ef);
    const against = exactMs === undefined ? '' : ` An exact search takes ${milliseconds(exactMs)}.`;
    if (busy) setText(this.note, `Measuring in the background: ${Math.round(progress * 100)} %.`);
    else if (measured.length === 0) setText(this.note, 'Measured once the store is ready.');
    else {
      setText(
        this.note,
        `${sampleSize} random words of this store, their ten nearest compared with exact search; ` +
          `time of one search in calls of twelve.${against}`,
      );
    }
  }
}
