#!/usr/bin/env node
// Prepares benchmark data in bench/datasets/cache. See README.md.

import * as os from 'node:os';
import { checkSums, describeFile, isPrepared, writeFile, writeStamp } from './output.mjs';
import { sets } from './sets.mjs';
import { K, writeTruth } from './truth.mjs';

// To be raised when a conversion changes: what was prepared before is then made again.
const VERSION = 1;

const USAGE = `usage: node bench/datasets/prepare.mjs [--force] [--record] NAME...
  NAME      a set (see --list), or "all"
  --list    print the sets with their sizes and licences
  --force   convert again what is already there
  --record  write the checksums of what is converted to checksums.json, unchecked`;

function prepare(name, options) {
  const set = sets[name];
  if (set.needs) prepare(set.needs, { ...options, force: false });
  if (!options.force && isPrepared(name, VERSION)) {
    console.log(`${name}: ready`);
    return;
  }
  const started = performance.now();
  const say = (message) => console.log(`${name}: ${message}`);
  const files = [];
  const write = (file, chunks) => {
    say(`writing ${file}`);
    files.push(writeFile(file, chunks));
  };
  set.make(write, say);
  if (set.queries) files.push(describeFile(writeTruth(name, set.dimensions, set.metric, say)));
  checkSums(files, options.record);
  files.push(writeFile(`${set.prefix}.meta.json`, [JSON.stringify(metaOf(set), null, 2) + '\n']));
  writeStamp(name, VERSION, files);
  say(`done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

function metaOf({ name, rows, queries = 0, dimensions, metric, licence, source }) {
  return { name, rows, queries, dimensions, metric, k: queries ? K : 0, licence, source };
}

function list() {
  for (const { name, rows, queries = 0, dimensions, metric, licence, about } of Object.values(sets)) {
    const megabytes = Math.ceil(((rows + queries) * dimensions * 4) / 1e6);
    const shape = `${rows.toLocaleString('en')} × ${dimensions}`;
    console.log(`${name.padEnd(19)} ${shape.padStart(13)}  ${metric.padEnd(6)} ${String(megabytes).padStart(4)} MB  ${licence.padEnd(10)}  ${about}`);
  }
}

function main(args) {
  if (args.includes('--help') || args.length === 0) {
    console.log(USAGE);
    return args.length === 0 ? 2 : 0;
  }
  if (args.includes('--list')) {
    list();
    return 0;
  }
  if (os.endianness() !== 'LE') {
    console.error('the files are little-endian and are written as they lie in memory; this machine is big-endian');
    return 1;
  }
  const options = { force: args.includes('--force'), record: args.includes('--record') };
  let names = args.filter((arg) => arg !== '--force' && arg !== '--record');
  if (names.includes('all')) names = Object.keys(sets);
  const unknown = names.find((name) => !Object.hasOwn(sets, name));
  if (unknown !== undefined) {
    console.error(`unknown set or option '${unknown}'; expected one of ${Object.keys(sets).join(', ')}, all`);
    return 2;
  }
  try {
    for (const name of names) prepare(name, options);
  } catch (error) {
    console.error(`prepare: ${error.message}`);
    return 1;
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
