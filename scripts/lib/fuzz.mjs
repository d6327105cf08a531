// Builds and runs the fuzz targets (tests/fuzz), one after the other.
//
// What a run finds interesting is kept in build/fuzz-corpus/<target>, where the next one goes on; it
// starts from there and from tests/fuzz/corpus/<target>, which is committed.
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildPreset } from './cmake.mjs';
import { build, root } from './paths.mjs';
import { StepError, run, step } from './run.mjs';

const programs = join(build, 'native-fuzz', 'tests', 'fuzz');
const found = (target) => join(build, 'fuzz-corpus', target);
const committed = (target) => join(root, 'tests', 'fuzz', 'corpus', target);

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Builds the targets; returns their names. */
export async function buildFuzzTargets() {
  await buildPreset('native-fuzz');
  const targets = readdirSync(programs, { withFileTypes: true })
    .filter((entry) => entry.isFile() && isProgram(join(programs, entry.name)))
    .map(({ name }) => name);
  if (targets.length === 0) throw new StepError('there is no fuzz target');
  return targets;
}

/** Runs one target for some seconds; a finding is an error and lies beside its corpus. */
export async function fuzz(target, seconds) {
  mkdirSync(found(target), { recursive: true });
  const options = [
    `-max_total_time=${seconds}`, `-artifact_prefix=${found(target)}-`, '-timeout=25', '-print_final_stats=1',
  ];
  const folders = [found(target), committed(target)].filter((folder) => existsSync(folder));
  await step(`fuzz ${target}`, () => run(join(programs, target), [...options, ...folders]));
}

/** Adds what the runs found, and reaches code that the committed corpus does not, to that. */
export async function keepCorpus(target) {
  mkdirSync(committed(target), { recursive: true });
  mkdirSync(found(target), { recursive: true });
  await step(`corpus of ${target}`, async () => {
    await run(join(programs, target), ['-set_cover_merge=1', committed(target), found(target)]);
    return `${readdirSync(committed(target)).length} inputs`;
  });
}
