// node bench/web/compare.mjs [SET] [--rows N] [--rounds N] [--build-rounds N] [--peers NAME,...]: Nearfield's variants
// beside other vector libraries in Chromium; ../BENCHMARKS.md says what is measured. Prints tables and keeps the
// figures in bench/results.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { root } from '../../scripts/lib/paths.mjs';
import { StepError, main, step } from '../../scripts/lib/run.mjs';
import { serve } from '../../scripts/lib/static-server.mjs';
import { setUpPeers } from '../../scripts/setup.mjs';
import { cache, described, readSet } from '../lib/data-set.mjs';
import { climb, efs, inTurn, rateAt, recalls, summary, targets } from '../lib/measure.mjs';
import { behindList, circumstances, figureTable, fixed, heading, keep, ladderTable, whole } from '../lib/report.mjs';
import { exactNeighbours } from './truth.mjs';

const usualTarget = 980; // thousandths: the default recall of a search
const peersFolder = join(root, 'bench', 'peers');

const known = [
  { name: 'nearfield', module: 'nearfield', ladder: targets, batches: true },
  { name: 'nearfield-simd', module: 'nearfield', simd: true, ladder: targets, batches: true },
  { name: 'nearfield-threads', module: 'nearfield', threads: true, ladder: targets, batches: true },
  { name: 'nearfield-simd-threads', module: 'nearfield', threads: true, simd: true, ladder: targets, batches: true },
  { name: 'nearfield-sync', module: 'nearfield-sync', ladder: targets },
  { name: 'hnswlib-wasm', module: 'hnswlib-wasm', package: 'hnswlib-wasm', ladder: efs },
  // One index for each ef, and so one ef a build.
  { name: 'edgevec', module: 'edgevec', package: 'edgevec', efs: [100, 20, 40, 200, 400] },
];

function parse() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        rows: { type: 'string', default: '20000' },
        rounds: { type: 'string', default: '5' },
        'build-rounds': { type: 'string', default: '5' },
        peers: { type: 'string', default: known.map(({ name }) => name).join() },
      },
    });
    const number = (name) => {
      const value = Number(values[name]);
      if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be an integer from 1`);
      return value;
    };
    if (positionals.length > 1) throw new Error('one set at a time');
    const names = values.peers.split(',');
    const unknown = names.find((name) => !known.some((peer) => peer.name === name));
    if (unknown) throw new Error(`no peer is named "${unknown}"; there are ${known.map(({ name }) => name).join(', ')}`);
    return {
      name: positionals[0] ?? 'words-50k',
      rows: number('rows'),
      rounds: number('rounds'),
      buildRounds: number('build-rounds'),
      peers: known.filter(({ name }) => names.includes(name)),
    };
  } catch (error) {
    throw new StepError(
      `${error.message}\nusage: node bench/web/compare.mjs [SET] [--rows N] [--rounds N] [--build-rounds N] [--peers NAME,...]`,
    );
  }
}

const version = ({ package: name }) =>
  name && JSON.parse(readFileSync(join(peersFolder, 'node_modules', name, 'package.json'), 'utf8')).version;

/** A peer whose index fixes ef has as many steps as it builds indexes. */
function withLadder(peer, buildRounds) {
  if (!peer.efs) return peer;
  const efs = peer.efs.slice(0, buildRounds);
  return { ...peer, efs, ladder: [...efs].sort((a, b) => a - b) };
}

/** One peer in a page of its own; load() takes a new page and a new store. */
class Peer {
  constructor(known, context, task) {
    Object.assign(this, known, { context, task: { ...task, module: `/page/${known.module}.mjs`, simd: known.simd, threads: known.threads } });
  }

  async load(round) {
    await this.close();
    this.task.store = `${this.name}-${round}`;
    await this.#blank();
    await this.#call('load', this.task);
  }

  build = (ef) => this.#call('build', ef);
  save = () => this.#call('save');
  search = (setting) => this.#call('search', setting);
  batch = (setting) => this.#call('batch', setting);

  /** In a new page, what the last one saved. */
  async open() {
    await this.#blank();
    try {
      return await this.#call('open', this.task);
    } finally {
      await this.close();
    }
  }

  async close() {
    await this.page?.close();
    this.page = undefined;
  }

  async #blank() {
    this.page = await this.context.newPage();
    await this.page.goto(this.task.address);
    await this.page.evaluate((module) => import(module), '/page/bench.mjs');
  }

  #call(name, argument) {
    /* global window */
    return this.page.evaluate(([call, given]) => window.bench(call, given), [name, argument]);
  }
}

/** Builds peer by peer and round by round. Each page stays, with what it built last; this is saved. */
async function measureBuilds(peers, rounds) {
  const taken = peers.map(() => []);
  for (let round = 0; round < rounds; ++round) {
    for (const peer of inTurn(peers, round)) {
      if (round === 0 || !peer.efs) await peer.load(round);
      taken[peers.indexOf(peer)].push(await peer.build(peer.efs?.[round % peer.efs.length]));
    }
  }
  for (const peer of peers) await peer.save();
  return taken.map((builds) => ({
    about: builds[0].about,
    build_seconds: summary(builds.map(({ seconds }) => seconds)),
  }));
}

/** Chromium compiles WebAssembly again, and better, once it has run for a while. */
async function warmUp(peers) {
  for (let round = 0; round < 3; ++round) {
    for (const peer of peers) await peer.search(peer.ladder[0]);
  }
}

/** All queries in one call, at the recall that is the default. */
async function measureBatches(peers, rounds, { truth, k }) {
  const able = peers.filter((peer) => peer.batches);
  const queries = truth.length / k;
  const rates = new Map(able.map((peer) => [peer, []]));
  for (let round = 0; round <= rounds; ++round) {
    for (const peer of inTurn(able, round)) {
      const { seconds } = await peer.batch(usualTarget);
      if (round > 0) rates.get(peer).push(queries / seconds);
    }
  }
  return peers.map((peer) => ({ batch_qps: rates.has(peer) ? summary(rates.get(peer)) : null }));
}

/** Opens what was saved, each time in a new page. A peer that cannot is not asked again. */
async function measureOpens(peers, rounds, { truth, k }) {
  const taken = peers.map(() => ({ seconds: [], error: null }));
  for (let round = 0; round < rounds; ++round) {
    for (const peer of inTurn(peers, round)) {
      const mine = taken[peers.indexOf(peer)];
      if (mine.error) continue;
      try {
        const { seconds, ids } = await peer.open();
        if (!truth.subarray(0, k).includes(ids[0])) throw new Error(`it answers ${ids}, not ${truth.subarray(0, k)}`);
        mine.seconds.push(seconds);
      } catch (error) {
        mine.error = error.message.split('\n')[0];
      }
    }
  }
  return taken.map(({ seconds, error }) => ({ open_seconds: error ? null : summary(seconds), open_error: error }));
}

/** The set's first rows, with a truth of their own when they are not all. */
function firstRows(name, rows) {
  const set = readSet(name);
  if (rows >= set.rows) return set;
  const base = set.base().subarray(0, rows * set.dimensions);
  return { ...set, rows, truth: exactNeighbours(base, set.query, set.dimensions, set.metric, set.k) };
}

async function compare({ name, rows, rounds, buildRounds, peers: wanted }) {
  const set = firstRows(name, rows);
  const before = circumstances();
  const mounts = {
    '/': join(root, 'tests', 'e2e', 'blank'),
    '/page/': join(import.meta.dirname, 'page'),
    '/lib/': join(root, 'bench', 'lib'),
    '/dist/': join(root, 'dist'),
    '/peers/': join(peersFolder, 'node_modules'),
    '/data/': cache,
  };
  const server = await serve({ mounts });
  // A profile of its own: contexts without one keep IndexedDB in memory.
  const profile = mkdtempSync(join(tmpdir(), 'nearfield-bench-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update'],
  });
  try {
    const task = {
      address: `http://localhost:${server.address().port}/`,
      base: `/data/${name}.base.f32`,
      queries: `/data/${name}.query.f32`,
      rows: set.rows,
      dimensions: set.dimensions,
      metric: set.metric,
    };
    const peers = wanted.map((each) => new Peer(withLadder(each, buildRounds), context, task));
    const builds = await measureBuilds(peers, buildRounds);
    await warmUp(peers);
    const ladders = await climb(peers, rounds, set, (peer, setting) => peer.search(setting));
    const batches = await measureBatches(peers, rounds, set);
    for (const peer of peers) await peer.close();
    const opens = await measureOpens(peers, rounds, set);
    return {
      set: name,
      ...before,
      chromium: context.browser()?.version(),
      ...described(set),
      peers: peers.map((peer, i) => ({
        name: peer.name,
        version: version(peer) ?? null,
        ...builds[i],
        ...batches[i],
        ...opens[i],
        at_recall: Object.fromEntries(recalls.map((recall) => [recall, rateAt(ladders[i], recall)])),
        ladder: ladders[i],
      })),
    };
  } finally {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
    server.closeAllConnections();
    server.close();
  }
}

const figures = [
  { what: 'build, s', of: (peer) => peer.build_seconds.median, format: fixed(2) },
  ...recalls.map((wanted) => ({
    what: `queries/s at recall ${wanted.toFixed(2)}`,
    of: (peer) => peer.at_recall[wanted],
    format: whole,
    more: true,
  })),
  {
    what: `queries/s in one call, recall ${usualTarget / 1000} asked for`,
    of: (peer) => peer.batch_qps && peer.batch_qps.median,
    format: whole,
    more: true,
  },
  { what: 'open to first answer, ms', of: (peer) => peer.open_seconds && peer.open_seconds.median * 1000, format: whole },
];

/** The tables of a result, as Markdown. */
function format(result) {
  const { peers } = result;
  return [
    heading(result),
    '',
    ...peers.map(({ name, version: number, about }) => `- ${name}${number ? ` ${number}` : ''}: ${about}`),
    '',
    figureTable(peers, figures),
    '',
    `Setting (ef; for Nearfield the recall asked for), recall@${result.k} and queries a second, one at a time:`,
    '',
    ladderTable(peers),
    '',
    ...peers.filter((peer) => peer.open_error).map((peer) => `${peer.name} does not open what it saved: ${peer.open_error}\n`),
    ...behindList(peers, figures),
  ].join('\n');
}

await main(async () => {
  const options = parse();
  if (!existsSync(join(root, 'dist', 'index.js'))) throw new StepError('there is no package in dist; run: npm run build web');
  await step('npm packages of bench/peers', setUpPeers);
  let result;
  await step(`measure ${options.name} in Chromium, at most ${options.rows} rows`, async () => {
    result = await compare(options);
  });
  const kept = keep('-web', { [`${result.set}-${result.rows}`]: result }, format, ['nearfield-sync', 'hnswlib-wasm']);
  console.log(`\n${format(result)}\n\nkept in ${kept} and the .md beside it`);
});
