// The most frequent words as a store that the native program built and packed, for the demo page to fetch.
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inputDigest } from './inputs.mjs';
import { build, root } from './paths.mjs';
import { run } from './run.mjs';
import { digest, once } from './stamp.mjs';

const rows = 50_000;
const dimensions = 100;
const folder = join(root, 'bench', 'datasets', 'cache', 'demo');

async function pack(target) {
  const work = mkdtempSync(join(build, 'demo-pack-'));
  try {
    const vectors = Buffer.alloc(rows * dimensions * 4);
    const file = openSync(join(folder, 'words.f32'), 'r');
    readSync(file, vectors, 0, vectors.length, 0);
    closeSync(file);
    const first = join(work, 'words.f32');
    const store = join(work, 'store');
    writeFileSync(first, vectors);
    const program = join(build, 'native', 'nearfield');
    await run(program, [
      'import', store, '--from', first, '--dimensions', String(dimensions), '--metric', 'cosine', '--collection', 'words',
    ]);
    await run(program, ['pack', store, target, '--force']);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Makes words.nfpack beside the words, when the engine has changed since the last one. Row numbers are its ids. */
export async function packDemoWords() {
  const target = join(folder, 'words.nfpack');
  const key = digest(inputDigest([join(root, 'core')]), String(rows));
  const changed = await once('demo-pack', key, [target], () => pack(target));
  return changed ? '' : 'already there';
}
