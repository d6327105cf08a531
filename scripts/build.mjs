// npm run build [native] [web]: builds the native program and tests, or the wasm variants, the npm
// package (dist/) and the demo page (build/demo). Without a name it builds both.
import { join } from 'node:path';
import { buildPreset, wasmPresets } from './lib/cmake.mjs';
import { packDemoWords } from './lib/demo-pack.mjs';
import { inputDigest } from './lib/inputs.mjs';
import { build, root } from './lib/paths.mjs';
import { StepError, main, run, step } from './lib/run.mjs';
import { digest, once } from './lib/stamp.mjs';
import { setUp } from './setup.mjs';

/** The wasm variants, then dist/ and build/demo when anything they are made from changed. */
export async function buildWeb() {
  for (const preset of wasmPresets()) await buildPreset(preset);
  await step('build dist and build/demo', async () => {
    const glue = /\.(wasm|js|mjs|d\.ts)$/;
    const inputs = digest(
      inputDigest(['web', 'package.json', 'package-lock.json', 'tsconfig.json'].map((name) => join(root, name))),
      inputDigest(wasmPresets().map((name) => join(build, name, 'wasm')), (file) => glue.test(file)),
    );
    const outputs = [join(root, 'dist'), join(build, 'demo', 'index.html')];
    const changed = await once('web', inputs, outputs, () => run(process.execPath, ['web/build.mjs']));
    return changed ? '' : 'nothing changed';
  });
}

export const buildNative = () => buildPreset('native');

/** The words and documents that the demo page searches, and a store of the words that is built already. */
export async function prepareDemoData() {
  await step('demo data', () => run(process.execPath, ['bench/datasets/prepare.mjs', 'demo-words', 'demo-docs']));
  await buildPreset('native', 'nearfield_cli');
  await step('packed demo store', packDemoWords);
}

const targets = { native: buildNative, web: buildWeb };

if (process.argv[1] === import.meta.filename) {
  await main(async () => {
    const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(targets);
    const unknown = names.find((name) => !(name in targets));
    if (unknown) throw new StepError(`unknown target "${unknown}"; known: ${Object.keys(targets).join(', ')}`);
    await setUp(names);
    for (const name of names) await targets[name]();
  });
}
