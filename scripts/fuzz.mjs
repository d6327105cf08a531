// npm run fuzz -- [--seconds N] [--target NAME] [--keep]: every fuzz target in turn, N seconds each
// (60 by default), or the named one. With --keep what was found joins tests/fuzz/corpus.
import { parseArgs } from 'node:util';
import { buildFuzzTargets, fuzz, keepCorpus } from './lib/fuzz.mjs';
import { StepError, main } from './lib/run.mjs';
import { setUp } from './setup.mjs';

const usage = 'usage: npm run fuzz -- [--seconds N] [--target NAME] [--keep]; N seconds a target, 60 by default';

function readOptions() {
  try {
    return parseArgs({
      options: {
        seconds: { type: 'string', default: '60' },
        target: { type: 'string' },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new StepError(`${error.message}\n${usage}`);
  }
}

await main(async () => {
  const { seconds, target, keep, help } = readOptions();
  if (help) {
    console.log(usage);
    return;
  }
  if (!/^[1-9]\d*$/.test(seconds)) throw new StepError(`--seconds is "${seconds}", expected a whole number above 0`);
  await setUp(['native', 'check']);
  const targets = await buildFuzzTargets();
  if (target && !targets.includes(target)) {
    throw new StepError(`unknown target "${target}"; known: ${targets.join(', ')}`);
  }
  const chosen = target ? [target] : targets;
  for (const name of chosen) await fuzz(name, seconds);
  if (keep) for (const name of chosen) await keepCorpus(name);
  console.log(`fuzzed ${chosen.join(', ')} for ${seconds} s each: no finding`);
});
