// npm run bench [SET...] [--rounds N] [--build-rounds N]: the short benchmark. Nearfield beside
// hnswlib on real data, as BENCHMARKS.md describes; prints a table and keeps the figures in
// bench/results/<date>/<machine>.json.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import * as os from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from '../scripts/lib/cmake.mjs';
import { build, root } from '../scripts/lib/paths.mjs';
import { StepError, main, output, run, step } from '../scripts/lib/run.mjs';
import { setUp } from '../scripts/setup.mjs';

const defaultSets = ['words-50k', 'fashion-mnist'];
const cache = join(root, 'bench', 'datasets', 'cache');

/** A short name for this machine, fit for a file: "amd-epyc-2-cores". */
function machineName() {
  const cpus = os.cpus();
  const model = cpus[0]?.model.trim() || os.arch();
  const slug = model.toLowerCase().replace(/\(r\)|\(tm\)|cpu|@.*$/g, '').replace(/[^a-z0-9]+/g, '-');
  return `${slug.replace(/^-+|-+$/g, '')}-${cpus.length}-cores`;
}

function machine() {
  return {
    cpu: os.cpus()[0]?.model.trim(),
    cores: os.cpus().length,
    memory_bytes: os.totalmem(),
    load_before: os.loadavg()[0],
    system: `${os.type()} ${os.arch()}`,
    compiler: (output('c++', ['--version']) ?? '').split('\n')[0],
    commit: (output('git', ['rev-parse', '--short', 'HEAD'], { cwd: root }) ?? '').trim(),
    changed: (output('git', ['status', '--porcelain'], { cwd: root }) ?? '') !== '',
  };
}

function compare(set, options) {
  const args = [cache, set, '--json', '--rounds', options.rounds, '--build-rounds', options['build-rounds']];
  try {
    const text = execFileSync(join(build, 'native-bench', 'hnswlib_compare'), args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 1 << 26,
    });
    return JSON.parse(text);
  } catch (error) {
    throw new StepError(`hnswlib_compare ${args.join(' ')}\nfailed: ${error.message}`);
  }
}

const whole = (value) => Math.round(value).toLocaleString('en');

/** The set's figures as lines of text. */
function table(result) {
  const { hnswlib, nearfield } = result.build;
  const lines = [
    '',
    `${result.set}: ${whole(result.rows)} x ${result.dimensions}, ${result.metric}; kernels ${result.kernels}`,
    `  build on ${result.threads} threads: hnswlib ${hnswlib.seconds.toFixed(1)} s, ` +
      `nearfield ${nearfield.seconds.toFixed(1)} s (${(hnswlib.seconds / nearfield.seconds).toFixed(1)} x)`,
    '',
    '      ef    hnswlib: recall  queries/s    nearfield: recall  queries/s',
  ];
  for (const row of result.search) {
    lines.push(
      String(row.ef).padStart(8) +
        row.hnswlib.recall.toFixed(4).padStart(19) + whole(row.hnswlib.qps).padStart(11) +
        row.nearfield.recall.toFixed(4).padStart(21) + whole(row.nearfield.qps).padStart(11),
    );
  }
  lines.push('', '  at the same recall, queries a second on one thread');
  for (const row of result.same_recall) {
    lines.push(
      `  recall ${row.recall.toFixed(3)}   hnswlib ${whole(row.hnswlib).padStart(7)}   ` +
        `nearfield ${whole(row.nearfield).padStart(7)}   ${row.ratio.toFixed(2)} x`,
    );
  }
  return lines.join('\n');
}

function save(report) {
  const folder = join(root, 'bench', 'results', report.date.slice(0, 10));
  const file = join(folder, `${machineName()}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(report, null, 1) + '\n');
  return file;
}

function parse() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: '5' },
        'build-rounds': { type: 'string', default: '1' },
      },
    });
    return { options: values, sets: positionals.length > 0 ? positionals : defaultSets };
  } catch (error) {
    throw new StepError(`${error.message}\nusage: npm run bench -- [SET...] [--rounds N] [--build-rounds N]`);
  }
}

await main(async () => {
  const { options, sets } = parse();
  await setUp(['native', 'bench']);
  await buildPreset('native-bench');
  await step(`prepare ${sets.join(', ')}`, () =>
    run(process.execPath, [join(root, 'bench', 'datasets', 'prepare.mjs'), ...sets]),
  );
  const report = { date: new Date().toISOString(), machine: machine(), sets: [] };
  for (const set of sets) {
    await step(`measure ${set}`, async () => {
      report.sets.push(compare(set, options));
    });
  }
  for (const result of report.sets) console.log(table(result));
  console.log(`\nkept in ${save(report).slice(root.length).replace(/^[\\/.]+/, '')}`);
});
