// Recall over time as a small SVG: one point per measured `ef`.

import { byId, htmlById, setText } from '../dom.ts';
import { milliseconds, percent } from '../format.ts';
import type { Measured } from '../measure/recall.ts';

const space = 'http://www.w3.org/2000/svg';
const width = 360;
const height = 210;
const edge = { left: 40, right: 14, top: 26, bottom: 34 };
// Where the recall axis may begin, and into how many even parts it is cut from there to 1.
const floors = [
  { from: 0.98, parts: 4 },
  { from: 0.95, parts: 5 },
  { from: 0.9, parts: 5 },
  { from: 0.8, parts: 4 },
  { from: 0.5, parts: 5 },
  { from: 0, parts: 5 },
];

export class Chart {
  private readonly svg = byId('chart', SVGSVGElement);
  private readonly summary = htmlById('chart-summary');

  /** A point may be clicked; the slider does the same for the keyboard. */
  constructor(onPoint: (ef: number) => void) {
    this.svg.addEventListener('click', (event) => {
      const ef = event.target instanceof SVGElement ? event.target.dataset['ef'] : undefined;
      if (ef !== undefined) onPoint(Number(ef));
    });
  }

  draw(points: readonly Measured[], ef: number): void {
    if (points.length === 0) {
      this.svg.replaceChildren(text('Recall over search time appears here.', width / 2, height / 2, 'middle', 'empty'));
      setText(this.summary, 'Chart of recall over search time. Not measured yet.');
      return;
    }
    const lowest = Math.min(1, ...points.map((point) => point.recall));
    const { from: floor, parts: cuts } = floors.find(({ from }) => from <= lowest) ?? { from: 0, parts: 5 };
    const times = points.map((point) => point.ms);
    // A logarithmic axis that covers the points with a little air.
    const low = Math.log(Math.max(0.001, Math.min(...times, 10)) * 0.85);
    const high = Math.max(Math.log(Math.max(...times, 0.02) * 1.15), low + 0.5);
    const x = (ms: number): number =>
      edge.left + ((Math.log(ms) - low) / (high - low)) * (width - edge.left - edge.right);
    const y = (recall: number): number =>
      edge.top + ((1 - recall) / (1 - floor)) * (height - edge.top - edge.bottom);

    const parts: SVGElement[] = [];
    for (let step = 0; step <= cuts; step += 1) {
      const recall = floor + ((1 - floor) * step) / cuts;
      const at = y(recall);
      parts.push(shape('line', { class: 'grid', x1: edge.left, x2: width - edge.right, y1: at, y2: at }));
      const digits = floor > 0.95 ? 1 : 0;
      parts.push(text(`${(recall * 100).toFixed(digits)}`, edge.left - 8, at + 4, 'end'));
    }
    const bottom = height - edge.bottom;
    for (const tick of ticks(Math.exp(low), Math.exp(high))) {
      parts.push(shape('line', { class: 'grid', x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4 }));
      parts.push(text(`${tick}`, x(tick), height - 17, 'middle'));
    }
    parts.push(text('recall@10 in %', 8, 11, 'start'));
    parts.push(text('engine time of a search in ms', width - edge.right, height - 3, 'end'));
    // By ef and not by time: noise in the time must not cut the curve's order.
    const path = points.map((point) => `${x(point.ms).toFixed(1)},${y(point.recall).toFixed(1)}`);
    if (path.length > 1) parts.push(shape('polyline', { class: 'curve', points: path.join(' ') }));
    for (const point of points) {
      if (point.ef !== ef) parts.push(dot(point, x(point.ms), y(point.recall), false));
    }
    const now = points.find((point) => point.ef === ef);
    if (now) {
      const right = x(now.ms) > width - 90;
      parts.push(dot(now, x(now.ms), y(now.recall), true));
      parts.push(
        text(`ef ${now.ef}`, x(now.ms) + (right ? -11 : 11), y(now.recall) + 17, right ? 'end' : 'start', 'label'),
      );
    }
    this.svg.replaceChildren(...parts);
    setText(
      this.summary,
      `Recall and time of one search. ${points
        .map((point) => `ef ${point.ef}: ${percent(point.recall)}, ${milliseconds(point.ms)}`)
        .join('; ')}.`,
    );
  }
}

function dot(point: Measured, cx: number, cy: number, now: boolean): SVGElement {
  const circle = shape('circle', { class: now ? 'point now' : 'point', cx, cy, r: now ? 7 : 4.5, 'data-ef': point.ef });
  const title = document.createElementNS(space, 'title');
  title.textContent = `ef ${point.ef}: recall ${percent(point.recall)}, ${milliseconds(point.ms)}`;
  circle.append(title);
  return circle;
}

/** 1, 2 and 5 times the powers of ten in a range; fewer where they would crowd. */
function ticks(from: number, to: number): number[] {
  const all: number[] = [];
  for (let power = -3; power <= 4; power += 1) {
    for (const step of [1, 2, 5]) {
      const value = step * 10 ** power;
      if (value >= from && value <= to) all.push(value);
    }
  }
  return all.length > 5 ? all.filter((value) => /^0*\.?0*[15]/.test(String(value))) : all;
}

function shape(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

function text(content: string, x: number, y: number, anchor: string, style = ''): SVGElement {
  const element = shape('text', { x, y, 'text-anchor': anchor, ...(style ? { class: style } : {}) });
  element.textContent = content;
  return element;
}
