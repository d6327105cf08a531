// npm run format: formats the C++ code; without --write it only checks.
import { StepError, main, run, step, which } from './lib/run.mjs';
import { cppFiles } from './lib/sources.mjs';

const write = process.argv.includes('--write');

await main(async () => {
  if (!which('clang-format')) throw new StepError('clang-format is needed: npm run setup check');
  await step(write ? 'format C++' : 'check the format of C++', async () => {
    const files = cppFiles();
    await run('clang-format', [...(write ? ['-i'] : ['--dry-run', '-Werror']), ...files]);
    return `${files.length} files`;
  });
});
