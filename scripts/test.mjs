// npm test [native|js|browser...]: sets up, builds and runs the test suites; without a name all of them.
//
// The last line is "N passed, N failed". A suite that ran no test, or whose runner failed without naming a
// failed test, counts as one failure.
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildNative, buildWeb, prepareDemoData } from './build.mjs';
import { build, root } from './lib/paths.mjs';
import { countCTest, countPlaywright, countVitest } from './lib/reports.mjs';
import { StepError, main, show } from './lib/run.mjs';
import { setUp } from './setup.mjs';

const reports = join(build, 'reports');
const local = (name) => join(root, 'node_modules', '.bin', name);

const suites = {
  native: {
    title: 'native (CTest)',
    needs: ['native'],
    prepare: [buildNative],
    report: 'ctest.xml',
    count: countCTest,
    command: (report) => [
      'ctest', '--test-dir', join(build, 'native'), '--output-on-failure', '--no-tests=error', '--progress',
      '--parallel', String(availableParallelism()), '--output-junit', report,
    ],
  },
  js: {
    title: 'JavaScript (Vitest)',
    // The native program writes stores that the JavaScript tests open, and the other way round.
    needs: ['native', 'web', 'browser'],
    prepare: [buildNative, buildWeb],
    report: 'vitest.json',
    count: countVitest,
    command: (report) => [local('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  },
  browser: {
    title: 'browser (Playwright)',
    needs: ['native', 'web', 'browser'],
    prepare: [buildNative, buildWeb, prepareDemoData],
    report: 'playwright.json',
    count: countPlaywright,
    command: () => [local('playwright'), 'test', '--reporter=list,json'],
  },
};

async function runSuite({ title, report, count, command }) {
  const file = join(reports, report);
  rmSync(file, { force: true });
  console.log(`\n== ${title}`);
  const [program, ...args] = command(file);
  const start = performance.now();
  const status = await show(program, args, {
    env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: file },
  });
  const counts = count(file);
  // A crash before the report, a failed hook, or nothing to run: the counts alone would hide it.
  if (counts.failed === 0 && (status !== 0 || counts.passed === 0)) counts.failed = 1;
  return { title, ...counts, seconds: (performance.now() - start) / 1000 };
}

await main(async () => {
  const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(suites);
  const unknown = names.find((name) => !(name in suites));
  if (unknown) throw new StepError(`unknown suite "${unknown}"; known: ${Object.keys(suites).join(', ')}`);
  const chosen = names.map((name) => suites[name]);

  await setUp([...new Set(chosen.flatMap(({ needs }) => needs))]);
  for (const prepare of new Set(chosen.flatMap((suite) => suite.prepare))) await prepare();
  mkdirSync(reports, { recursive: true });

  const results = [];
  for (const suite of chosen) results.push(await runSuite(suite));

  console.log('');
  for (const { title, passed, failed, skipped, seconds } of results) {
    const note = skipped > 0 ? `, ${skipped} skipped` : '';
    console.log(`${title}: ${passed} passed, ${failed} failed${note} (${seconds.toFixed(1)} s)`);
  }
  const sum = (key) => results.reduce((total, result) => total + result[key], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  if (sum('failed') > 0) process.exitCode = 1;
});
