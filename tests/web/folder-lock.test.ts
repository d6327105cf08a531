// One writer per folder; what happens to folders that cannot be used, vanish or are damaged.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NearfieldError, open } from 'nearfield';
import { open as openSync } from 'nearfield/sync';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from './folder.ts';

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'none',
    (error: unknown) => (error instanceof NearfieldError ? error.code : String(error)),
  );

async function written(folder: string): Promise<void> {
  await using db = await open('x', { storage: { folder }, worker: false });
  const docs = await db.collection('docs', { dimensions: 2 });
  await docs.upsert([{ id: 1, vector: [1, 2] }]);
}

const contents = (folder: string): [string, Buffer][] =>
  readdirSync(folder).sort().map((name) => [name, readFileSync(join(folder, name))]);

describe.each([undefined, false] as const)('worker: %s', (worker) => {
  const openIn = (folder: string, readOnly = false): ReturnType<typeof open> =>
    open('x', { storage: { folder }, readOnly, ...(worker === undefined ? {} : { worker }) });

  test('one writer at a time, and readers beside it', async () => {
    const folder = temporaryFolder();
    await written(folder);
    const first = await openIn(folder);
    expect(await codeOf(openIn(folder))).toBe('LOCKED');
    expect(await codeOf(openSync('x', { storage: { folder } }))).toBe('LOCKED');
    await (await openIn(folder, true)).close();
    await first.close();
    await (await openIn(folder)).close();
    expect(readdirSync(folder).filter((name) => name.includes('lock'))).toEqual([]);
  });

  test('a folder that is removed while the store is open', async () => {
    const folder = join(temporaryFolder(), 'store');
    await written(folder);
    const db = await openIn(folder);
    await (await db.collection('docs')).upsert([{ id: 2, vector: [1, 2] }]);
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    expect(await codeOf(db.flush())).toBe('IO');
    expect(await codeOf(db.close())).toBe('IO');
    expect(readdirSync(folder)).toEqual([]);
    await (await openIn(folder)).close();
  });

  test('a store that does not open stays as it is, to the byte', async () => { // c25
    const folder = temporaryFolder();
    await written(folder);
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name));
      writeFileSync(join(folder, name), bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte)));
      const before = contents(folder);
      await openIn(folder).then(
        (db) => db.close(),
        () => expect(contents(folder)).toEqual(before),
      );
      writeFileSync(join(folder, name), bytes);
    }
  });
});

test('a store that an aborted open left can be opened', async () => {
  const folder = temporaryFolder();
  const aborting = new AbortController();
  const opening = open('x', { storage: { folder }, signal: aborting.signal, onProgress: () => aborting.abort() });
  expect(await codeOf(opening)).toBe('ABORTED');
  await written(folder);
});

test('another process is kept out, and one that died is not waited for', async () => {
  const folder = temporaryFolder();
  const program = join(import.meta.dirname, '..', '..', 'dist', 'node.js');
  const run = (then: string): string => {
    const code = `import { open } from ${JSON.stringify(program)};
      await open('x', { storage: { folder: ${JSON.stringify(folder)} }, worker: false }).then(() => console.log('open'), (e) => console.log(e.code)); ${then}`;
    return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).stdout.trim();
  };
  const db = await open('x', { storage: { folder } });
  expect(run('')).toBe('LOCKED');
  await db.close();
  expect(run('process.kill(process.pid, "SIGKILL")')).toBe('open');
  await written(folder);
});

test('a folder that cannot be is refused when it is opened', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  for (const readOnly of [false, true]) {
    expect(await codeOf(open('x', { storage: { folder: join(file, 'below') }, readOnly }))).toBe('IO');
    expect(await codeOf(open('x', { storage: { folder: 'x'.repeat(5000) }, readOnly }))).toBe('IO');
    expect(await codeOf(open('x', { storage: { folder: 'a\0b' }, readOnly }))).toBe('INVALID_ARGUMENT');
  }
});

test('a relative folder is the one it was when the store was opened', () => {
  const folder = temporaryFolder();
  const program = join(import.meta.dirname, '..', '..', 'dist', 'sync-node.js');
  const code = `import { open } from ${JSON.stringify(program)};
    const opening = open('x', { storage: { folder: './store' } });
    process.chdir('/');
    const db = await opening;
    db.collection('docs', { dimensions: 1 }).upsert([{ id: 1, vector: [1] }]);
    await db.close();`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(readdirSync(folder)).toEqual(['store']);
  expect(readdirSync(join(folder, 'store')).length).toBeGreaterThan(0);
});
