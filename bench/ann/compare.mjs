// Nearfield beside the index libraries that are here, on one data set; ../BENCHMARKS.md says what is measured.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as buildFolder, root } from '../../scripts/lib/paths.mjs';
import { StepError, output } from '../../scripts/lib/run.mjs';
import { cache, described, readSet } from '../lib/data-set.mjs';
import { climb, efs, inTurn, rateAt, recalls, summary, targets } from '../lib/measure.mjs';
import {
  behindList, circumstances, debianVersion, figureTable, fixed, heading, ladderTable, megabytes, whole,
} from '../lib/report.mjs';
import { PeerProcess } from './peer-process.mjs';

const native = join(buildFolder, 'native-bench');
const usearch = join(root, 'bench', 'peers', 'node_modules', 'usearch');

const hosted = (set, peer, saved) => new PeerProcess(join(native, 'ann_peer'), [peer.name, cache, set.name, saved]);
const addon = (set, _, saved) =>
  new PeerProcess(process.execPath, ['--expose-gc', join(import.meta.dirname, 'usearch-peer.mjs'), set.name, saved]);

const known = [
  { name: 'nearfield', about: 'rows of f32, codes of 7 bits; defaults', start: hosted, ladder: targets },
  { name: 'hnswlib', about: 'rows of f32', start: hosted, version: () => debianVersion('libhnswlib-dev') },
  { name: 'faiss', about: 'HNSW over rows of f32', start: hosted, version: () => debianVersion('libfaiss-dev') },
  { name: 'faiss-sq8', about: 'HNSW over 8 bits, no rows', start: hosted, version: () => debianVersion('libfaiss-dev') },
  {
    name: 'usearch',
    about: 'rows of f32, in Node',
    start: addon,
    version: () => JSON.parse(readFileSync(join(usearch, 'package.json'), 'utf8')).version,
  },
];

export const peerNames = known.map(({ name }) => name);

/** The wanted peers that are here; the others are named in a line each. */
function present(names) {
  const built = (output(join(native, 'ann_peer'), []) ?? '').split('\n');
  const here = ({ name, start }) => (start === hosted ? built.includes(name) : existsSync(usearch));
  return known.filter((peer) => {
    if (!names.includes(peer.name)) return false;
    if (!here(peer)) console.log(`  ${peer.name} is left out: it is not installed`);
    return here(peer);
  });
}

/** Builds and saves, peer by peer and round by round. The processes stay, with what they built last. */
async function measureBuilds(peers, { threads, rounds, seconds }) {
  const taken = peers.map(() => ({ builds: [], saves: [] }));
  for (let round = 0; round < rounds; ++round) {
    for (const peer of inTurn(peers, round)) {
      const mine = taken[peers.indexOf(peer)];
      if (mine.builds.reduce((sum, build) => sum + build.seconds, 0) > seconds) continue;
      mine.builds.push(await peer.process.call(`build ${threads}`));
      mine.saves.push(await peer.process.call('save'));
    }
  }
  const all = (answers) => summary(answers.map((answer) => answer.seconds));
  return taken.map(({ builds, saves }) => ({
    build_seconds: all(builds),
    // Of the first build, in a process that has done nothing else.
    resident_bytes: builds[0].resident_bytes,
    peak_bytes: builds[0].peak_bytes,
    save_seconds: all(saves),
    saved_bytes: saves[0].bytes,
  }));
}

/** Opens what was saved, each time in a new process. */
async function measureOpens(peers, rounds) {
  const taken = peers.map(() => []);
  for (let round = 0; round < rounds; ++round) {
    for (const peer of inTurn(peers, round)) {
      const opened = peer.start();
      taken[peers.indexOf(peer)].push(await opened.call('open'));
      await opened.close();
    }
  }
  return taken.map((answers) => ({
    open_seconds: summary(answers.map((answer) => answer.seconds)),
    open_all_seconds: summary(answers.map((answer) => answer.all_seconds)),
    open_resident_bytes: answers[0].resident_bytes,
  }));
}

/** Nearfield's exact search beside the rate at which the rows can be read. */
function measureScan(set, rounds) {
  const text = output(join(native, 'ann_scan'), [cache, set.name, String(rounds)]);
  if (text === null) throw new StepError(`ann_scan ${cache} ${set.name} failed`);
  const { kernels, threads, queries_at_once, read_bytes_per_second, scan_bytes_per_second } = JSON.parse(text);
  return {
    kernels,
    threads,
    queries_at_once,
    read_bytes_per_second: summary(read_bytes_per_second),
    scan_bytes_per_second: summary(scan_bytes_per_second),
  };
}

/** Measures one set; `format` makes tables of what it returns. */
export async function compare(name, { names, threads, rounds, buildRounds, buildSeconds }) {
  const set = readSet(name);
  const before = circumstances();
  const folder = mkdtempSync(join(tmpdir(), 'nearfield-ann-'));
  const peers = present(names).map((peer) => {
    const start = () => peer.start(set, peer, join(folder, peer.name));
    return { name: peer.name, ladder: peer.ladder ?? efs, start, process: start() };
  });
  const close = () => Promise.all(peers.map((peer) => peer.process.close()));
  try {
    const builds = await measureBuilds(peers, { threads, rounds: buildRounds, seconds: buildSeconds });
    const ladders = await climb(peers, rounds, set, (peer, setting) => peer.process.call(`search ${setting}`));
    await close();
    const opens = await measureOpens(peers, rounds);
    return {
      set: name,
      ...before,
      ...described(set),
      threads,
      row_bytes: set.rows * set.dimensions * 4,
      peers: peers.map((peer, i) => {
        const { about, version } = known.find((each) => each.name === peer.name);
        return {
          name: peer.name,
          about,
          version: version?.() ?? null,
          ...builds[i],
          ...opens[i],
          at_recall: Object.fromEntries(recalls.map((wanted) => [wanted, rateAt(ladders[i], wanted)])),
          ladder: ladders[i],
        };
      }),
      exact_scan: measureScan(set, rounds),
    };
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const ms = (seconds) => fixed(1)(seconds * 1000);

function figures(result) {
  const beyond = (bytes) => bytes - result.row_bytes;
  return [
    { what: `build on ${result.threads} threads, s`, of: (peer) => peer.build_seconds.median, format: fixed(2) },
    { what: 'build rounds', of: (peer) => peer.build_seconds.rounds.length, format: whole, plain: true },
    { what: 'memory beyond the rows, MB', of: (peer) => beyond(peer.resident_bytes), format: megabytes },
    { what: 'peak of building beyond the rows, MB', of: (peer) => beyond(peer.peak_bytes), format: megabytes },
    { what: 'save, s', of: (peer) => peer.save_seconds.median, format: fixed(3) },
    { what: 'saved beyond the rows, MB', of: (peer) => beyond(peer.saved_bytes), format: megabytes },
    { what: 'open to first answer, ms', of: (peer) => peer.open_seconds.median, format: ms },
    { what: 'open to all answers, ms', of: (peer) => peer.open_all_seconds.median, format: ms },
    { what: 'memory beyond the rows when opened, MB', of: (peer) => beyond(peer.open_resident_bytes), format: megabytes },
    ...recalls.map((wanted) => ({
      what: `queries/s at recall ${wanted.toFixed(2)}`,
      of: (peer) => peer.at_recall[wanted],
      format: whole,
      more: true,
    })),
  ];
}

/** The tables of a result, as Markdown. */
export function format(result) {
  const { peers, exact_scan: scan } = result;
  const gigabytes = (rate) => (rate.median / 1e9).toFixed(1);
  return [
    `${heading(result)} The rows are ${megabytes(result.row_bytes)} MB; Nearfield's kernels: ${scan.kernels}.`,
    '',
    ...peers.map(({ name, about, version }) => `- ${name}${version ? ` ${version}` : ''}: ${about}`),
    '',
    figureTable(peers, figures(result)),
    '',
    `Setting (ef; for Nearfield the recall asked for), recall@${result.k} and queries a second on one thread:`,
    '',
    ladderTable(peers),
    '',
    `Exact search on ${scan.threads} threads goes through ${gigabytes(scan.scan_bytes_per_second)} GB of f32 rows a second; ` +
      `the same threads can read ${gigabytes(scan.read_bytes_per_second)} GB a second of them.`,
    '',
    ...behindList(peers, figures(result)),
  ].join('\n');
}
