// npm run setup [group...]: installs what the builds and tests need, and skips what is there.
// Without a group it sets up all of them.
import { join } from 'node:path';
import { haveApt, installPackages } from './lib/apt.mjs';
import { setUpCatch2 } from './lib/catch2.mjs';
import { setUpEmscripten } from './lib/emscripten.mjs';
import { setUpHeaders } from './lib/headers.mjs';
import { setUpNpm } from './lib/npm.mjs';
import { root } from './lib/paths.mjs';
import { StepError, main, step, which } from './lib/run.mjs';
import { setUpUnicode } from './lib/unicode.mjs';

// Per group: Debian packages, and the programs that must be found where there is no apt.
const groups = {
  web: {
    packages: [
      'cmake', 'ninja-build', 'ccache', 'python3', 'libxxhash-dev', 'rapidjson-dev', 'unicode-data',
      'clang-19', 'lld-19', 'llvm-19',
    ],
    programs: ['cmake', 'ninja', 'python3', 'em++'],
  },
  native: {
    packages: [
      'g++', 'cmake', 'ninja-build', 'ccache', 'libxxhash-dev', 'rapidjson-dev', 'unicode-data',
      'nlohmann-json3-dev', 'libcli11-dev', 'libhdf5-dev', 'pkg-config',
    ],
    programs: ['c++', 'cmake', 'ninja'],
  },
  browser: { packages: ['chromium'], programs: [] },
  // The libraries beside Nearfield in the benchmarks; those from npm are in bench/peers.
  bench: { packages: ['libhnswlib-dev', 'libfaiss-dev'], programs: [] },
  // What only .ci/run uses: format, lint, sanitizers, fuzzing and the NEON kernels under an emulator.
  check: {
    packages: ['git', 'clang', 'clang-format', 'clang-tidy', 'libclang-rt-14-dev', 'g++-aarch64-linux-gnu', 'qemu-user-static'],
    programs: ['clang++', 'clang-format', 'clang-tidy'],
  },
};

async function setUpSystem(names) {
  const chosen = names.map((name) => groups[name]);
  if (haveApt()) {
    const installed = await installPackages([...new Set(chosen.flatMap((group) => group.packages))]);
    return installed.length > 0 ? `installed ${installed.join(' ')}` : 'already there';
  }
  const missing = chosen.flatMap((group) => group.programs).filter((program) => !which(program));
  if (missing.length > 0) {
    throw new StepError(
      `this system has no apt, so install by hand: ${missing.join(', ')}; see "Requirements" in README.md`,
    );
  }
  return 'found';
}

/** What the benchmarks compare with and npm has. */
export const setUpPeers = () => setUpNpm('bench-peers', join(root, 'bench', 'peers'));

/** Sets up the given groups; every part of it does nothing when its work is done. */
export async function setUp(names) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new StepError(`Node 20.19 or newer is needed, this is ${process.version}`);
  }
  await step(`system packages (${names.join(', ')})`, () => setUpSystem(names));
  await step('npm packages', () => setUpNpm('root', root));
  if (names.includes('web') || names.includes('native')) {
    await step('header-only libraries', setUpHeaders);
    await step('Unicode tables', setUpUnicode);
  }
  if (names.includes('web')) await step('Emscripten', setUpEmscripten);
  if (names.includes('native')) await step('Catch2', () => setUpCatch2());
  if (names.includes('check')) await step('Catch2 for arm64', () => setUpCatch2('arm64'));
  if (names.includes('bench')) await step('npm packages of bench/peers', setUpPeers);
  // For relaxed SIMD, which Node 20 computes wrongly; packaged for this platform only.
  if (names.includes('browser') && process.platform === 'linux' && process.arch === 'x64') {
    await step('newer Node for tests', () => setUpNpm('tests-tools', join(root, 'tests', 'tools')));
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => {
    const names = process.argv.slice(2);
    const unknown = names.find((name) => !(name in groups));
    if (unknown) throw new StepError(`unknown group "${unknown}"; known: ${Object.keys(groups).join(', ')}`);
    await setUp(names.length > 0 ? names : Object.keys(groups));
  });
}
