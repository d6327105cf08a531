// xxHash is one header: copied out of /usr/include, which must never be on the wasm include path.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { toolchain } from './paths.mjs';
import { StepError } from './run.mjs';

const folders = ['/usr/include', '/usr/local/include', '/opt/homebrew/include'];

export function setUpXxhash() {
  const target = join(toolchain, 'include', 'xxhash.h');
  if (existsSync(target)) return 'already there';
  const folder = folders.find((path) => existsSync(join(path, 'xxhash.h')));
  if (!folder) throw new StepError('xxhash.h is needed: install xxHash; see "Requirements" in README.md');
  mkdirSync(join(toolchain, 'include'), { recursive: true });
  copyFileSync(join(folder, 'xxhash.h'), target);
  return 'copied';
}
