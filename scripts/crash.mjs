// npm run test:crash [-- OPTION...]: what a crash or a failing call may leave, at least 100,000
// states of it; `-- --help` lists the options of the program, tests/crash.
import { join } from 'node:path';
import { buildPreset } from './lib/cmake.mjs';
import { build } from './lib/paths.mjs';
import { main, show } from './lib/run.mjs';
import { setUp } from './setup.mjs';

await main(async () => {
  await setUp(['native']);
  await buildPreset('native', 'crash_check');
  process.exitCode = await show(join(build, 'native', 'tests', 'crash', 'crash_check'), process.argv.slice(2));
});
