// Header-only libraries: copied out of /usr/include, which must never be on the wasm include path.
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { toolchain } from './paths.mjs';
import { StepError } from './run.mjs';

const folders = ['/usr/include', '/usr/local/include', '/opt/homebrew/include'];
const headers = { 'xxhash.h': 'xxHash', rapidjson: 'RapidJSON' };

export function setUpHeaders() {
  const include = join(toolchain, 'include');
  const missing = Object.keys(headers).filter((name) => !existsSync(join(include, name)));
  if (missing.length === 0) return 'already there';
  mkdirSync(include, { recursive: true });
  for (const name of missing) {
    const folder = folders.find((path) => existsSync(join(path, name)));
    if (!folder) {
      throw new StepError(`the headers of ${headers[name]} are needed: install it; see "Requirements" in README.md`);
    }
    cpSync(join(folder, name), join(include, name), { recursive: true });
  }
  return 'copied';
}
