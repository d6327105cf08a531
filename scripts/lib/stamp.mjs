// Stamps remember what was made from what, so that the second run has nothing to do.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolchain } from './paths.mjs';

const folder = join(toolchain, 'stamps');

/** A short hash of strings; the checkout's path is part of it, since some tools record it. */
export function digest(...parts) {
  const hash = createHash('sha256').update(root);
  for (const part of parts) hash.update('\0').update(part);
  return hash.digest('hex').slice(0, 16);
}

/**
 * Runs `make` unless the stamp `name` already holds `value` and all `outputs` still exist.
 * Returns whether it ran.
 */
export async function once(name, value, outputs, make) {
  const file = join(folder, name);
  try {
    if (readFileSync(file, 'utf8') === value && outputs.every((path) => existsSync(path))) return false;
  } catch {
    // no stamp yet
  }
  rmSync(file, { force: true });
  await make();
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, value);
  return true;
}
