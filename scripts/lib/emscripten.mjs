// Emscripten for the wasm builds: a newer one from the PATH, or Debian 13's package in .toolchain/.
//
// Debian 12's own package (3.1.6) is too old: no final relaxed-SIMD opcodes and no --emit-tsd. Debian
// 13's 3.1.69 works here with Debian 12's LLVM 19; only its Binaryen needs a newer libc, so those programs
// are started with the loader and libraries that are unpacked beside them.
//
// Either way the CMake presets find it under .toolchain/emscripten/root.
import { chmodSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { haveApt, unpackFromSuite } from './apt.mjs';
import { toolchain } from './paths.mjs';
import { StepError, output, run, which } from './run.mjs';
import { digest, once } from './stamp.mjs';

const oldest = [3, 1, 69];
const home = join(toolchain, 'emscripten');
const link = join(home, 'root');

function isNewEnough(version) {
  const numbers = version.split('.').map(Number);
  for (let i = 0; i < oldest.length; ++i) {
    if (numbers[i] !== oldest[i]) return numbers[i] > oldest[i];
  }
  return true;
}

/** The Emscripten on the PATH, when it is new enough. */
function onPath() {
  const program = which('em++');
  if (!program) return null;
  const version = /\) (\d+\.\d+\.\d+)/.exec(output(program, ['--version']) ?? '')?.[1];
  return version && isNewEnough(version) ? { version, root: dirname(realpathSync(program)) } : null;
}

function linkTo(folder) {
  mkdirSync(home, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(folder, link);
}

/** Programs that start Binaryen's with the newer C library that was unpacked with them. */
function writeBinaryenWrappers(runtime, binaryen) {
  const bin = join(binaryen, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of readdirSync(join(runtime, 'usr/bin'))) {
    const loader = `${runtime}/usr/lib64/ld-linux-x86-64.so.2`;
    const libraries = `${runtime}/usr/lib/x86_64-linux-gnu`;
    const start = `exec "${loader}" --library-path "${libraries}" "${runtime}/usr/bin/${name}" "$@"`;
    writeFileSync(join(bin, name), `#!/bin/sh\n${start}\n`);
    chmodSync(join(bin, name), 0o755);
  }
}

async function unpackDebian() {
  const packageFolder = join(home, 'package');
  const runtime = join(home, 'runtime');
  const binaryen = join(home, 'binaryen');
  for (const folder of [packageFolder, runtime, binaryen]) rmSync(folder, { recursive: true, force: true });
  await unpackFromSuite('trixie', {
    emscripten: packageFolder,
    binaryen: runtime,
    libc6: runtime,
    'libstdc++6': runtime,
    'libgcc-s1': runtime,
  });
  writeBinaryenWrappers(runtime, binaryen);

  const emscripten = join(packageFolder, 'usr/share/emscripten');
  // Emscripten reads this file from its own folder, so that neither CMake nor Ninja needs EM_CONFIG.
  const settings = {
    LLVM_ROOT: '/usr/lib/llvm-19/bin',
    BINARYEN_ROOT: binaryen,
    NODE_JS: process.execPath,
    CACHE: join(emscripten, 'cache'), // the package brings the system libraries prebuilt
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  writeFileSync(join(emscripten, '.emscripten'), `${lines.join('\n')}\n`);
  // Debian keeps the parser acorn in a package of its own. The package.json also ends the search for a
  // module type: this project's own says "module", and Emscripten's .js files are not.
  const manifest = { private: true, type: 'commonjs', dependencies: { acorn: '8.19.0' } };
  writeFileSync(join(emscripten, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--no-package-lock'], { cwd: emscripten });
  linkTo(emscripten);
}

/** Sets up Emscripten; returns a note for the step's line. */
export async function setUpEmscripten() {
  const found = onPath();
  if (found) {
    const changed = await once('emscripten', digest(found.root, found.version), [link], () => linkTo(found.root));
    return `${found.version} from the PATH${changed ? '' : ' (already linked)'}`;
  }
  if (!haveApt() || process.arch !== 'x64') {
    throw new StepError(
      `Emscripten ${oldest.join('.')} or newer is needed: put em++ on the PATH (from emsdk, say); see "Requirements" in README.md`,
    );
  }
  const changed = await once('emscripten', digest('trixie 2', process.execPath), [link], unpackDebian);
  return changed ? 'unpacked' : 'already there';
}
