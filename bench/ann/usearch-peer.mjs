// usearch through its Node addon, as a peer process: node --expose-gc usearch-peer.mjs SET SAVED. It takes and
// answers the lines that peer_host.cpp describes. Cosine is the inner product of normalised rows. All queries go in
// one call; since the addon takes ef only when an index is made, a new ef loads the saved index again.
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { root } from '../../scripts/lib/paths.mjs';
import { readSet } from '../lib/data-set.mjs';
import { prepared } from '../lib/unit-rows.mjs';

const { Index } = createRequire(join(root, 'bench', 'peers', 'package.json'))('usearch');

const [setName, saved] = process.argv.slice(2);
const set = readSet(setName);
const { dimensions, k } = set;
let index;
let indexEf;

function make(ef) {
  index = undefined;
  globalThis.gc(); // what the last index held
  index = new Index({
    dimensions,
    metric: set.metric === 'l2' ? 'l2sq' : 'ip',
    quantization: 'f32',
    connectivity: 16,
    expansion_add: 200,
    expansion_search: ef,
  });
  indexEf = ef;
}

function answers(queries) {
  const count = queries.length / dimensions;
  const found = index.search(prepared(queries, set), k, 1);
  if (count === 1) return [...found.keys].map(Number);
  const ids = new Array(count * k).fill(-1);
  for (let i = 0; i < count; ++i) {
    for (let j = 0; j < Number(found.counts[i]); ++j) ids[i * k + j] = Number(found.keys[i * k + j]);
  }
  return ids;
}

const seconds = (start) => (performance.now() - start) / 1000;

async function build(threads) {
  make(100);
  globalThis.gc();
  const before = process.memoryUsage().rss;
  const added = add(set.base(), threads);
  globalThis.gc(); // the rows, whose memory is freed in the background
  await setTimeout(200);
  return { ...added, resident_bytes: process.memoryUsage().rss - before };
}

function add(rows, threads) {
  const before = process.memoryUsage().rss;
  const start = performance.now();
  index.add(BigUint64Array.from({ length: set.rows }, (_, i) => BigInt(i)), prepared(rows, set), threads);
  return { seconds: seconds(start), peak_bytes: process.resourceUsage().maxRSS * 1024 - before };
}

function save() {
  const start = performance.now();
  index.save(saved);
  const file = openSync(saved, 'r');
  fsyncSync(file);
  closeSync(file);
  return { seconds: seconds(start), bytes: statSync(saved).size };
}

function open() {
  make(100);
  globalThis.gc();
  const before = process.memoryUsage().rss;
  const start = performance.now();
  index.view(saved); // maps the file
  answers(set.query.subarray(0, dimensions));
  const first = seconds(start);
  answers(set.query);
  const all = seconds(start);
  return { seconds: first, all_seconds: all, resident_bytes: process.memoryUsage().rss - before };
}

function search(ef) {
  if (indexEf !== ef) {
    make(ef);
    index.load(saved);
  }
  const start = performance.now();
  const ids = answers(set.query);
  return { seconds: seconds(start), ids };
}

const calls = { build, save, open, search };
for await (const line of createInterface({ input: process.stdin })) {
  const [call, number] = line.split(' ');
  console.log(JSON.stringify(await calls[call](Number(number))));
}
