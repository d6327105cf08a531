// All engine builds give the same answers; which one runs depends on what the machine can do right.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { open } from 'nearfield';
import { expect, test } from 'vitest';
import { temporaryFolder } from './folder.ts';
import { withWrongRelaxedDot } from './wrong-dot.ts';

const root = join(import.meta.dirname, '..', '..');
const dist = join(root, 'dist');
const newerNode = join(root, 'tests', 'tools', 'node_modules', 'node24', 'bin', 'node');

interface Report {
  variant: string;
  hits: unknown;
}

interface ThreadsReport {
  variant: string;
  threads: number;
  hash: string;
}

function runIn(node: string, ...flags: string[]): Report {
  const output = execFileSync(node, [...flags, join(import.meta.dirname, 'report-variant.mjs'), join(dist, 'sync-node.js')], {
    encoding: 'utf8',
  });
  return JSON.parse(output) as Report;
}

/** Fails when the process does not end by itself. */
function runThreads(node: string, threads: number | 'auto', engines?: string): ThreadsReport {
  const program = join(import.meta.dirname, 'report-threads.mjs');
  const args = [program, join(dist, 'node.js'), String(threads), ...(engines === undefined ? [] : [engines])];
  return JSON.parse(execFileSync(node, args, { encoding: 'utf8', timeout: 50_000 })) as ThreadsReport;
}

/** The engines, the relaxed ones as they would run where they compute wrongly. */
function wrongEngines(): string {
  const folder = temporaryFolder();
  cpSync(dist, folder, { recursive: true });
  for (const file of ['nearfield-relaxed.wasm', 'nearfield-relaxed-threads.wasm']) withWrongRelaxedDot(join(folder, file));
  return folder;
}

test('an engine that computes relaxed SIMD wrongly, or not at all, gets plain SIMD', () => {
  if (process.versions.node.startsWith('20.')) {
    expect(runIn(process.execPath, '--experimental-wasm-relaxed-simd').variant).toBe('simd');
  }
  expect(['simd', 'relaxed']).toContain(runIn(process.execPath).variant);
});

test.skipIf(!existsSync(newerNode))('relaxed SIMD gives the same answers', () => {
  const relaxed = runIn(newerNode);
  expect(relaxed.variant).toBe('relaxed');
  expect(relaxed.hits).toEqual(runIn(process.execPath).hits);
});

test('one thread and many give the same bytes and answers', () => {
  const one = runThreads(process.execPath, 1);
  expect(one).toMatchObject({ variant: expect.not.stringContaining('threads') as string, threads: 1 });
  for (const threads of [2, 5]) {
    expect(runThreads(process.execPath, threads)).toEqual({ ...one, variant: `${one.variant}-threads`, threads });
  }
});

test.skipIf(!existsSync(newerNode))('so do those with relaxed SIMD, and one that computes wrongly is not used', () => {
  const { hash } = runThreads(process.execPath, 1);
  expect(runThreads(newerNode, 1)).toEqual({ variant: 'relaxed', threads: 1, hash });
  expect(runThreads(newerNode, 3)).toEqual({ variant: 'relaxed-threads', threads: 3, hash });
  const engines = wrongEngines();
  expect(runThreads(newerNode, 1, engines)).toEqual({ variant: 'simd', threads: 1, hash });
  expect(runThreads(newerNode, 3, engines)).toEqual({ variant: 'simd-threads', threads: 3, hash });
}, 120_000);

test('auto is a thread for each processor, at most 8', () => {
  expect(runThreads(process.execPath, 'auto').threads).toBe(Math.min(availableParallelism(), 8));
});

test.each([0, -1, 65, 1.5, NaN, '2', null, true])('threads: %s is refused', async (threads) => {
  await expect(open('refused', { threads: threads as number })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('expected an integer from 1 to 64, or "auto"') as string,
  });
});

test('in the calling thread there is one', async () => {
  await using db = await open('local', { threads: 4, worker: false });
  expect(await db.info()).toMatchObject({ threads: 1 });
});

test('a folder that threads filled is read again', async () => {
  const folder = temporaryFolder();
  const dimensions = 16;
  const vectors = Float32Array.from({ length: 3000 * dimensions }, (_, i) => Math.sin(i * i));
  const query = { vector: vectors.slice(0, dimensions), k: 5, include: ['metadata', 'vector'] as const };
  const ids = Array.from({ length: 3000 }, (_, i) => `row ${i} é🙂`);
  const answers: unknown[] = [];
  for (const threads of [3, 1, 2]) {
    await using db = await open('threads', { threads, storage: { folder } });
    const docs = await db.collection('docs', { dimensions });
    if (answers.length === 0) await docs.upsert({ ids, vectors, metadata: ids });
    answers.push(await docs.search(query));
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});
