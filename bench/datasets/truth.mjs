// Builds the brute-force program of bench/truth when needed, and runs it.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { cache, here } from './output.mjs';

export const K = 10;

const source = path.join(here, '..', 'truth', 'truth.cpp');

/** The program: from the native build when it is there and current, else compiled into the cache. */
function truthProgram(say) {
  const own = path.join(cache, 'bin', 'nearfield-truth');
  const built = path.join(here, '..', '..', 'build', 'native', 'bench', 'truth', 'nearfield-truth');
  const isCurrent = (file) => fs.existsSync(file) && fs.statSync(file).mtimeMs >= fs.statSync(source).mtimeMs;
  if (isCurrent(built)) return built;
  if (isCurrent(own)) return own;
  say('compiling bench/truth');
  fs.mkdirSync(path.dirname(own), { recursive: true });
  const part = `${own}.${process.pid}.part`;
  // The flags are those of bench/truth/CMakeLists.txt.
  const flags = ['-std=c++20', '-O3', '-march=native', '-ffp-contract=off', '-Wno-psabi', '-pthread', source, '-o', part];
  run(process.env.CXX || 'g++', flags);
  fs.renameSync(part, own);
  return own;
}

function run(program, args) {
  const result = spawnSync(program, args, { stdio: 'inherit' });
  if (result.error) throw new Error(`cannot run ${program}: ${result.error.message}`);
  if (result.status !== 0) throw new Error(`${program} failed`);
}

/** Writes SET.gt.i32 from SET.base.f32 and SET.query.f32; returns its name. */
export function writeTruth(set, dimensions, metric, say) {
  const program = truthProgram(say);
  const name = `${set}.gt.i32`;
  const file = path.join(cache, name);
  const part = `${file}.${process.pid}.part`;
  say('computing the truth');
  try {
    run(program, [
      '--base', path.join(cache, `${set}.base.f32`), '--query', path.join(cache, `${set}.query.f32`),
      '--dimensions', String(dimensions), '--metric', metric, '--k', String(K), '--out', part,
    ]);
    fs.renameSync(part, file);
  } finally {
    fs.rmSync(part, { force: true });
  }
  return name;
}
