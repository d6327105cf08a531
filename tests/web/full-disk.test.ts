// A file that cannot be written whole is closed and removed, so that its room is free again.
import { readdirSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './folder.ts';

test.runIf(process.platform === 'linux')('a flush that fails leaves no open file and no part of one', () => {
  const folder = temporaryFolder();
  const program = join(import.meta.dirname, '..', '..', 'dist', 'sync-node.js');
  const code = `
    import { readdirSync, readlinkSync } from 'node:fs';
    import { open } from ${JSON.stringify(program)};
    process.on('SIGXFSZ', () => {});
    const db = await open('x', { storage: { folder: ${JSON.stringify(folder)} } });
    const docs = db.collection('docs', { dimensions: 1000 });
    await db.flush();
    docs.upsert({ ids: Array.from({ length: 1000 }, (_, i) => i), vectors: new Float32Array(1e6) }, { link: false });
    for (let i = 0; i < 3; ++i) await db.flush().then(() => console.log('flushed'), (error) => console.log(error.code));
    const files = readdirSync('/proc/self/fd').map((fd) => { try { return readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } });
    console.log(files.filter((file) => file.includes('.nf')).length, docs.count());
    await db.close().catch((error) => console.log(error.code));`;
  const limited = ['-c', 'ulimit -f 2048; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', code];
  const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.trim().split('\n')).toEqual(['IO', 'IO', 'IO', '0 1000', 'IO']);
  expect(readdirSync(folder).filter((name) => !/^(data|manifest)-/.test(name))).toEqual([]);
});
