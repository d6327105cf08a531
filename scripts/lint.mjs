// npm run lint: the format of C++, ESLint and the TypeScript compiler; `npm run lint -- tidy` adds
// clang-tidy over core, which takes minutes.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { build, root } from './lib/paths.mjs';
import { main, run, step } from './lib/run.mjs';
import { cppFiles } from './lib/sources.mjs';
import { setUp } from './setup.mjs';
import { buildNative } from './build.mjs';

const local = (name) => join(root, 'node_modules', '.bin', name);

/** clang-tidy, one process per file and as many at a time as there are cores. */
async function tidy(files) {
  const waiting = [...files];
  const worker = async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      // GCC's options stand in the compilation database.
      await run('clang-tidy', ['--quiet', '--extra-arg=-Wno-unknown-warning-option', '-p', join(build, 'native'), file]);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return `${files.length} files`;
}

async function tidyCore() {
  await buildNative();
  // The kernels of other instruction sets are in no native compilation on this machine.
  const compiled = cppFiles(['core']).filter((file) => file.endsWith('.cpp') && !/wasm|neon/.test(file));
  await step('clang-tidy', () => tidy(compiled));
}

await main(async () => {
  await setUp(['native', 'check']);
  await run(process.execPath, ['scripts/format.mjs']);
  if (process.argv.includes('tidy')) await tidyCore();
  await step('ESLint', () => run(local('eslint'), ['--max-warnings', '0', '.']));
  await step('TypeScript', () => run(local('tsc'), ['--project', root]));
});
