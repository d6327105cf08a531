// Catch2 3: Debian 12 itself has version 2, its backports have 3.7.1.
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { haveApt, unpackFromSuite } from './apt.mjs';
import { toolchain } from './paths.mjs';
import { digest, once } from './stamp.mjs';

const suite = 'bookworm-backports';

/** Unpacks Catch2 for this machine, or for `architecture` (the cross-built NEON tests). */
export async function setUpCatch2(architecture) {
  if (!haveApt()) return 'taken from the system';
  const suffix = architecture ? `-${architecture}` : '';
  const folder = join(toolchain, `catch2${suffix}`);
  const changed = await once(`catch2${suffix}`, digest(suite), [folder], async () => {
    rmSync(folder, { recursive: true, force: true });
    await unpackFromSuite(suite, { [`libcatch2-dev${architecture ? `:${architecture}` : ''}`]: folder });
  });
  return changed ? 'unpacked' : 'already there';
}
