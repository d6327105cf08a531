// Where results go, and how they look: bench/results/<date>/<machine>.json, and the same as tables in a .md beside it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as os from 'node:os';
import { join, relative } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';
import { output } from '../../scripts/lib/run.mjs';
import { recalls } from './measure.mjs';

/** A short name for this machine, fit for a file: "amd-epyc-2-cores". */
function machineName() {
  const cpus = os.cpus();
  const model = cpus[0]?.model.trim() || os.arch();
  const slug = model.toLowerCase().replace(/\(r\)|\(tm\)|cpu|@.*$/g, '').replace(/[^a-z0-9]+/g, '-');
  return `${slug.replace(/^-+|-+$/g, '')}-${cpus.length}-cores`;
}

export const machine = () => ({
  cpu: os.cpus()[0]?.model.trim(),
  cores: os.cpus().length,
  memory_bytes: os.totalmem(),
  system: `${os.type()} ${os.arch()}`,
  node: process.version,
});

/** What belongs to one measurement rather than to the machine. */
export const circumstances = () => ({
  date: new Date().toISOString(),
  load_before: os.loadavg()[0],
  commit: (output('git', ['rev-parse', '--short', 'HEAD'], { cwd: root }) ?? '').trim(),
  changed: (output('git', ['status', '--porcelain'], { cwd: root }) ?? '') !== '',
});

/** The version of a Debian package; null when it is not installed. */
export const debianVersion = (name) => output('dpkg-query', ['-W', '-f', '${Version}', name]);

/**
 * Keeps results under their names beside what was measured on the same day: measuring a set again replaces it.
 * `kind` sets files of different benchmarks apart; `format` makes the tables of one result; the pair of peers is
 * compared over all of them. Returns the JSON's path.
 */
export function keep(kind, results, format, pair) {
  const folder = join(root, 'bench', 'results', new Date().toISOString().slice(0, 10));
  const file = join(folder, `${machineName()}${kind}`);
  let kept = {};
  try {
    kept = JSON.parse(readFileSync(`${file}.json`, 'utf8')).results;
  } catch {
    // the first of this day
  }
  Object.assign(kept, results);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.json`, JSON.stringify({ machine: machine(), results: kept }, null, 1) + '\n');
  writeFileSync(`${file}.md`, [ratioTable(kept, pair), ...Object.values(kept).map(format)].join('\n\n') + '\n');
  return relative(root, `${file}.json`);
}

/** A Markdown table that also reads well on a terminal: the first column to the left, numbers to the right. */
function table(header, rows) {
  const cells = [header, ...rows].map((row) => row.map((cell) => String(cell ?? '–')));
  const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const pad = (cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]));
  const line = (row) => `| ${row.map(pad).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => '-'.repeat(width - 1) + (column === 0 ? '-' : ':')).join(' | ')} |`;
  return [line(cells[0]), rule, ...cells.slice(1).map(line)].join('\n');
}

/** How many times quicker the first of two peers is than the second, set by set. */
export function ratioTable(results, [ours, theirs]) {
  const times = (ratio) => (ratio ? `${ratio.toFixed(1)} ×` : '–');
  const rows = Object.entries(results).flatMap(([name, { peers }]) => {
    const [mine, other] = [ours, theirs].map((wanted) => peers.find((peer) => peer.name === wanted));
    if (!mine || !other) return [];
    const rates = recalls.map((recall) => mine.at_recall[recall] / other.at_recall[recall]);
    return [[name, other.build_seconds.median / mine.build_seconds.median, ...rates]];
  });
  const header = [`${ours} over ${theirs}`, 'build', ...recalls.map((recall) => `queries/s at ${recall.toFixed(2)}`)];
  return table(header, rows.map(([name, ...ratios]) => [name, ...ratios.map((ratio) => times(Number.isFinite(ratio) && ratio))]));
}

const formatted = (convert) => (value) => (value === null || value === undefined ? '–' : convert(value));
export const whole = formatted((value) => Math.round(value).toLocaleString('en'));
export const fixed = (digits) => formatted((value) => value.toFixed(digits));
export const megabytes = formatted((bytes) => (bytes / 1e6).toFixed(1));

/** The head of a result's tables. */
export function heading(result) {
  const made = `${result.date.slice(0, 16).replace('T', ' ')}, commit ${result.commit}${result.changed ? ' and changes' : ''}`;
  return [
    `## ${result.set}: ${whole(result.rows)} × ${result.dimensions}, ${result.metric}`,
    '',
    `${made}, load before ${result.load_before.toFixed(1)}. ${whole(result.queries)} queries, k ${result.k}, m ${result.m}, ` +
      `efConstruction ${result.ef_construction}; medians.`,
  ].join('\n');
}

/**
 * A column for each peer, a row for each figure: `{ what, of(peer), format }`. `more` says that larger is better,
 * `plain` that neither is.
 */
export const figureTable = (peers, figures) =>
  table(
    ['', ...peers.map(({ name }) => name)],
    figures.map(({ what, of, format }) => [what, ...peers.map((peer) => format(of(peer)))]),
  );

/** Setting, recall and rate of each peer at each step. */
export function ladderTable(peers) {
  const longest = Math.max(...peers.map((peer) => peer.ladder.length));
  const cell = (peer, i) => {
    const step = peer.ladder[i];
    if (!step) return undefined;
    const setting = peer.name.startsWith('nearfield') ? (step.setting / 1000).toFixed(3).slice(1) : step.setting;
    return `${String(setting).padStart(4)}: ${step.recall.toFixed(4)} ${whole(step.qps.median).padStart(7)}`;
  };
  const steps = Array.from({ length: longest }, (_, i) => [i + 1, ...peers.map((peer) => cell(peer, i))]);
  return table(['step', ...peers.map(({ name }) => name)], steps);
}

/** The figures in which another is better than the first peer, Nearfield, by more than the 3 % that mean something. */
function behind([nearfield, ...others], figures) {
  const lines = [];
  for (const { what, of, format, more = false, plain = false } of figures) {
    const ours = of(nearfield);
    if (plain || ours === null) continue;
    for (const peer of others.filter(({ name }) => !name.startsWith('nearfield'))) {
      const theirs = of(peer);
      if (theirs === null || !(more ? theirs > ours * 1.03 : theirs < ours / 1.03)) continue;
      const ratio = more ? theirs / ours : ours / theirs;
      const times = ratio > 0 ? ` (${ratio.toFixed(2)} x)` : ''; // sizes beyond the rows may be negative
      lines.push(`- ${what}: ${peer.name} ${format(theirs)}, nearfield ${format(ours)}${times}`);
    }
  }
  return lines;
}

export function behindList(peers, figures) {
  const lines = behind(peers, figures);
  return lines.length > 0
    ? ['Nearfield is behind in:', '', ...lines]
    : ['Nearfield is behind in nothing that was measured here.'];
}
