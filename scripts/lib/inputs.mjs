// A digest of what a build step reads, for steps whose tool does not keep track of it itself.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

function files(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => files(join(path, name)));
}

/** One hash over the names and bytes of every file in the given files and folders that `keep` accepts. */
export function inputDigest(paths, keep = () => true) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(files).filter(keep)) {
    hash.update(file).update('\0').update(readFileSync(file));
  }
  return hash.digest('hex');
}
