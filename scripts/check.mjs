// node scripts/check.mjs NAME...: the slower checks of .ci/run, each of which also runs alone.
//   asan, tsan  the native tests under the sanitizers
//   neon        the tests of core on AArch64, under QEMU
//   wasm        the kernels of each wasm variant, in Node
//   fuzz        every fuzz target for a short time (FUZZ_SECONDS, 20 by default); npm run fuzz has options
//   start       npm start serves the page, and a second start has nothing to build
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildPreset, wasmPresets } from './lib/cmake.mjs';
import { buildFuzzTargets, fuzz } from './lib/fuzz.mjs';
import { build, root } from './lib/paths.mjs';
import { StepError, main, run, step } from './lib/run.mjs';
import { setUp } from './setup.mjs';

async function ctest(preset) {
  await buildPreset(preset);
  await step(`tests of ${preset}`, () =>
    run('ctest', [
      '--test-dir', join(build, preset), '--output-on-failure', '--no-tests=error',
      '--parallel', String(availableParallelism()),
    ]),
  );
}

async function wasmKernels() {
  // Node 20 computes relaxed SIMD wrongly, so that a newer one has to run that variant.
  const newer = join(root, 'tests', 'tools', 'node_modules', 'node24', 'bin', 'node');
  for (const preset of wasmPresets()) {
    await buildPreset(preset, 'kernel_check');
    for (const set of ['simd', 'relaxed']) {
      await step(`kernels of ${preset}, ${set}`, () =>
        run(newer, [join(build, preset, 'tests', 'core', 'kernels', `kernel_check_${set}.js`)]),
      );
    }
  }
}

async function fuzzAll() {
  for (const target of await buildFuzzTargets()) await fuzz(target, process.env.FUZZ_SECONDS ?? '20');
}

/** Starts the demo page on a free port, asks for it, and stops it. Returns the seconds until it was served. */
function startOnce() {
  const begin = performance.now();
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // npm starts node in turn: the signal goes to the group
  });
  return new Promise((resolve, reject) => {
    let text = '';
    let served = false;
    child.on('close', () => {
      if (!served) reject(new StepError(`npm start ended without serving the page:\n${text}`));
    });
    child.stdout.on('data', async (chunk) => {
      text += chunk;
      const address = /http:\/\/\S+:\d+\//.exec(text)?.[0];
      if (!address || served) return;
      served = true;
      const seconds = (performance.now() - begin) / 1000;
      try {
        const response = await fetch(address);
        const page = await response.text();
        if (response.status !== 200 || !page.includes('<script')) {
          throw new StepError(`${address} answered ${response.status}:\n${page.slice(0, 500)}`);
        }
        if (response.headers.get('cross-origin-embedder-policy') === null) {
          throw new StepError(`${address} is not served cross-origin isolated`);
        }
        resolve(seconds);
      } catch (error) {
        reject(error);
      } finally {
        process.kill(-child.pid, 'SIGTERM');
      }
    });
  });
}

async function start() {
  await step('npm start', async () => `served after ${(await startOnce()).toFixed(1)} s`);
  await step('npm start again', async () => {
    const seconds = await startOnce();
    if (seconds > 15) throw new StepError(`a second start took ${seconds.toFixed(1)} s, the limit is 15 s`);
    return `served after ${seconds.toFixed(1)} s`;
  });
}

const native = ['native', 'check'];
const checks = {
  asan: { needs: native, check: () => ctest('native-asan') },
  tsan: { needs: native, check: () => ctest('native-tsan') },
  neon: { needs: native, check: () => ctest('native-neon') },
  wasm: { needs: ['web', 'browser'], check: wasmKernels },
  fuzz: { needs: native, check: fuzzAll },
  start: { needs: [], check: start }, // sets itself up
};

await main(async () => {
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !(name in checks));
  if (names.length === 0 || unknown) throw new StepError(`usage: check.mjs ${Object.keys(checks).join('|')}...`);
  const needs = [...new Set(names.flatMap((name) => checks[name].needs))];
  if (needs.length > 0) await setUp(needs);
  for (const name of names) await checks[name].check();
});
