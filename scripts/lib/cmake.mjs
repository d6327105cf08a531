// Configures and builds CMake presets (CMakePresets.json); the binaries land in build/<preset>.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './paths.mjs';
import { run, step } from './run.mjs';
import { digest, once } from './stamp.mjs';

const presets = () => readFileSync(join(root, 'CMakePresets.json'), 'utf8');

/** The presets of the engine in the page; each builds it with SIMD and with relaxed SIMD. */
export const wasmPresets = () =>
  JSON.parse(presets())
    .configurePresets.filter(({ name, hidden }) => name.startsWith('wasm') && !hidden)
    .map(({ name }) => name);

/**
 * Configures a preset when it is new or changed, then builds all of it or one target; Ninja knows what is
 * out of date.
 */
export async function buildPreset(preset, target = 'all') {
  await step(`build ${preset}${target === 'all' ? '' : `, ${target}`}`, async () => {
    const folder = join(build, preset);
    const key = digest(presets(), process.env.NEARFIELD_WERROR ?? '');
    await once(`configure-${preset}`, key, [join(folder, 'build.ninja')], () =>
      run('cmake', ['--preset', preset]),
    );
    await run('cmake', ['--build', folder, '--target', target]);
  });
}
