// The npm packages of a folder, installed exactly as its lock file says.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';
import { digest, once } from './stamp.mjs';

export async function setUpNpm(name, folder) {
  const key = digest(readFileSync(join(folder, 'package-lock.json')), process.version);
  // Playwright's own browsers are not used: the tests run in Debian's Chromium.
  const env = { ...process.env, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' };
  const changed = await once(`npm-${name}`, key, [join(folder, 'node_modules')], () =>
    run('npm', ['ci'], { cwd: folder, env }),
  );
  return changed ? 'installed' : 'already there';
}
