// npm run bench [SET...] [--peers NAME,...] [--rounds N] [--build-rounds N] [--build-seconds S] [--threads N]: Nearfield
// beside other index libraries, as BENCHMARKS.md describes. Prints tables and keeps the figures in bench/results.
import { join } from 'node:path';
import * as os from 'node:os';
import { parseArgs } from 'node:util';
import { buildPreset } from '../scripts/lib/cmake.mjs';
import { root } from '../scripts/lib/paths.mjs';
import { StepError, main, run, step } from '../scripts/lib/run.mjs';
import { setUp } from '../scripts/setup.mjs';
import { compare, format, peerNames } from './ann/compare.mjs';
import { keep } from './lib/report.mjs';

// Without names: what ends within ten minutes on two cores. faiss as Debian builds it, without AVX, needs that long for
// the images alone.
const short = [
  { name: 'words-50k', names: peerNames },
  { name: 'fashion-mnist', names: ['nearfield', 'hnswlib'] },
];

function parse() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        peers: { type: 'string' },
        rounds: { type: 'string', default: '5' },
        'build-rounds': { type: 'string', default: '5' },
        'build-seconds': { type: 'string', default: '20' },
        threads: { type: 'string', default: String(os.cpus().length) },
      },
    });
    const number = (name) => {
      const value = Number(values[name]);
      if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be an integer from 1`);
      return value;
    };
    const names = values.peers?.split(',');
    const unknown = names?.find((name) => !peerNames.includes(name));
    if (unknown) throw new Error(`no peer is named "${unknown}"; there are ${peerNames.join(', ')}`);
    const sets = positionals.length > 0 ? positionals.map((name) => ({ name, names: peerNames })) : short;
    return {
      sets: sets.map((set) => ({ ...set, names: names ?? set.names })),
      rounds: number('rounds'),
      buildRounds: number('build-rounds'),
      buildSeconds: number('build-seconds'),
      threads: number('threads'),
    };
  } catch (error) {
    throw new StepError(
      `${error.message}\nusage: npm run bench -- [SET...] [--peers NAME,...] [--rounds N] [--build-rounds N] ` +
        '[--build-seconds S] [--threads N]',
    );
  }
}

await main(async () => {
  const { sets, ...options } = parse();
  await setUp(['native', 'bench']);
  await buildPreset('native-bench');
  await step(`prepare ${sets.map(({ name }) => name).join(', ')}`, () =>
    run(process.execPath, [join(root, 'bench', 'datasets', 'prepare.mjs'), ...sets.map(({ name }) => name)]),
  );
  const results = {};
  let kept;
  for (const { name, names } of sets) {
    await step(`measure ${name}`, async () => {
      results[name] = await compare(name, { ...options, names });
      kept = keep('', results, format, ['nearfield', 'hnswlib']); // after every set, so that stopping loses nothing
    });
  }
  for (const result of Object.values(results)) console.log(`\n${format(result)}`);
  console.log(`\nkept in ${kept} and the .md beside it`);
});
