// Every bad input gets an error that says what was wrong and what was expected, and changes nothing.
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NearfieldError, errorCodes, open, type Collection, type Database, type Id, type OpenOptions } from 'nearfield';
import { open as openSync } from 'nearfield/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from './folder.ts';

let db: Database;
let docs: Collection;

beforeAll(async () => {
  db = await open('bad input', { storage: 'memory' });
  docs = await db.collection('docs', { dimensions: 3 });
  await docs.upsert([{ id: 'kept', vector: [1, 2, 3] }]);
});
afterAll(() => db.close());

async function failure(call: Promise<unknown>): Promise<NearfieldError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(NearfieldError);
  expect(errorCodes).toContain((error as NearfieldError).code);
  return error as NearfieldError;
}

const row = [1, 2, 3];
function holed(...values: unknown[]): any { // eslint-disable-line @typescript-eslint/no-explicit-any -- wrong on purpose
  const array = [...values];
  array.length += 1;
  return array;
}
function detached(): Float32Array {
  const array = new Float32Array(3);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}
/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-assignment -- wrong on purpose */
const refusals: [string, () => Promise<unknown>, string, RegExp][] = [
  ['a query of other dimensions', () => docs.search({ vector: new Float32Array(384) }), 'DIMENSION_MISMATCH', /384.*3/], // c35
  ['a row of other dimensions', () => docs.upsert([{ id: 1, vector: row }, { id: 2, vector: [1] }]), 'DIMENSION_MISMATCH', /record 1.*1 dim.*3/],
  ['a flat batch of another length', () => docs.upsert({ ids: [1, 2], vectors: new Float32Array(5) }), 'DIMENSION_MISMATCH', /5.*2 × 3/],
  ['NaN in a batch', () => docs.upsert([{ id: 1, vector: row }, { id: 2, vector: [1, NaN, 3] }]), 'NOT_FINITE', /1/], // c36
  ['infinity in a query', () => docs.search({ vector: [1, Infinity, 0] }), 'NOT_FINITE', /./],
  ['a value beyond 32-bit floats', () => docs.upsert([{ id: 1, vector: [1e39, 0, 0] }]), 'NOT_FINITE', /0/],
  ['a text among numbers', () => docs.upsert([{ id: 1, vector: ['1', 2, 3] as any }]), 'NOT_FINITE', /0/],
  ['no vector', () => docs.upsert([{ id: 1 } as any]), 'INVALID_ARGUMENT', /vector of record 0/],
  ['k = 0', () => docs.search({ vector: row, k: 0 }), 'INVALID_ARGUMENT', /k is 0.*1 to/],
  ['k = 1.5', () => docs.search({ vector: row, k: 1.5 }), 'INVALID_ARGUMENT', /1\.5/],
  ['recall = 1', () => docs.search({ vector: row, recall: 1 }), 'INVALID_ARGUMENT', /recall is 1; .*below 1/],
  ['recall = NaN', () => docs.search({ vector: row, recall: NaN }), 'INVALID_ARGUMENT', /recall is NaN/],
  ['recall = null', () => docs.search({ vector: row, recall: null as any }), 'INVALID_ARGUMENT', /recall is object/],
  ['recall and exact', () => docs.search({ vector: row, recall: 0.9, exact: true }), 'INVALID_ARGUMENT', /one of recall, ef/],
  ['ef and exact', () => docs.search({ vector: row, ef: 9, exact: true }), 'INVALID_ARGUMENT', /one of recall, ef/],
  ['recall and ef', () => docs.search({ vector: row, recall: 0.9, ef: 9 }), 'INVALID_ARGUMENT', /one of recall, ef/],
  ['ef = -1', () => docs.search({ vector: row, ef: -1 }), 'INVALID_ARGUMENT', /ef is -1/],
  ['an unknown search option', () => docs.search({ vector: row, topK: 3 } as any), 'INVALID_ARGUMENT', /"topK".*known are/],
  ['a filter that is a list', () => docs.search({ vector: row, where: [] } as any), 'INVALID_ARGUMENT', /expected an object/],
  ['an unknown thing to include', () => docs.search({ vector: row, include: ['document' as any] }), 'INVALID_ARGUMENT', /"document"/],
  ['an unknown field of a record', () => docs.upsert([{ id: 1, values: row } as any]), 'INVALID_ARGUMENT', /"values"/],
  ['the id 1.5', () => docs.upsert([{ id: 1, vector: row }, { id: 1.5, vector: row }]), 'INVALID_ID', /id 1 is 1\.5/],
  ['the id 2^53', () => docs.get(2 ** 53), 'INVALID_ID', /bigint/], // c40
  ['the id NaN', () => docs.delete(NaN), 'INVALID_ID', /NaN/],
  ['the id null', () => docs.upsert([{ id: null as any, vector: row }]), 'INVALID_ID', /null/],
  ['the id 7n', () => docs.get(7n), 'INVALID_ID', /given as numbers/],
  ['an id of 65 bits', () => docs.get(2n ** 64n), 'INVALID_ID', /64 bits/],
  ['an id with half a character', () => docs.get('\ud800'), 'INVALID_ID', /surrogate/],
  ['an id that is too long', () => docs.upsert([{ id: 'x'.repeat(5000), vector: row }]), 'INVALID_ID', /1024/],
  ['metadata with a bigint', () => docs.upsert([{ id: 1, vector: row, metadata: { a: 1n } }]), 'INVALID_ARGUMENT', /row 0/],
  ['metadata that is a function', () => docs.upsert([{ id: 1, vector: row, metadata: () => 1 }]), 'INVALID_ARGUMENT', /row 0.*function/],
  ['too few metadata', () => docs.upsert({ ids: [1, 2], vectors: new Float32Array(6), metadata: [1] }), 'INVALID_ARGUMENT', /2 values/],
  ['a hole in vectors', () => docs.upsert({ ids: [1, 2], vectors: holed(row) }), 'INVALID_ARGUMENT', /vector 1/],
  ['a hole in the queries', () => docs.searchMany({ vectors: holed(row) }), 'INVALID_ARGUMENT', /query 1/],
  ['a hole in ids', () => docs.upsert({ ids: holed(1), vectors: [row, row] }), 'INVALID_ARGUMENT', /id 1.*hole/],
  ['a hole in metadata', () => docs.upsert({ ids: [1, 2], vectors: [row, row], metadata: holed(1) }), 'INVALID_ARGUMENT', /row 1.*hole/],
  ['a hole in records', () => docs.upsert(holed({ id: 1, vector: row })), 'INVALID_ARGUMENT', /record 1/],
  ['ids that are a DataView', () => docs.upsert({ ids: new DataView(new ArrayBuffer(1)) as any, vectors: [row] }), 'INVALID_ARGUMENT', /array/],
  ['a detached vector', () => docs.search({ vector: detached() }), 'INVALID_ARGUMENT', /detached/],
  ['detached vectors', () => docs.searchMany({ vectors: detached() }), 'INVALID_ARGUMENT', /detached/],
  ['an absurd number of records', () => docs.upsert(new Array(2 ** 32 - 1)), 'INVALID_ARGUMENT', /bytes/],
  ['an absurd number of ids', () => docs.get(new Array(2 ** 32 - 1)), 'INVALID_ARGUMENT', /bytes/],
  ['options that are null', () => docs.upsert([], null as any), 'INVALID_ARGUMENT', /null/],
  ['a metric that is a bigint', () => db.collection('x', { dimensions: 3, metric: 5n as any }), 'INVALID_ARGUMENT', /5n/],
  ['a storage that is a bigint', () => open('x', { storage: 5n as any }), 'INVALID_ARGUMENT', /5n/],
  ['a storage that is null', () => open('x', { storage: null as any }), 'INVALID_ARGUMENT', /null/],
  ['a wasmUrl that is null', () => open('x', { wasmUrl: null as any }), 'INVALID_ARGUMENT', /wasmUrl is null/],
  ['a wasmUrl that gives none', () => open('x', { wasmUrl: (() => 5) as any }), 'INVALID_ARGUMENT', /wasmUrl/],
  ['a worker that is null', () => open('x', { worker: null as any }), 'INVALID_ARGUMENT', /worker is null/],
  ['a worker that is a symbol', () => open('x', { worker: Symbol('w') as any }), 'INVALID_ARGUMENT', /worker is symbol/],
  ['a worker that is no address', () => open('x', { worker: 'worker.js' }), 'INVALID_ARGUMENT', /worker/],
  ['sync: a worker', () => openSync('x', { worker: false } as any), 'INVALID_ARGUMENT', /"worker"/],
  ['sync: an address to start from', () => openSync('x', { from: 'file' as any }), 'INVALID_ARGUMENT', /from/],
  ['no records', () => docs.upsert('a' as any), 'INVALID_ARGUMENT', /array of records/],
  ['a signal that is none', () => docs.index({ signal: 1 as any }), 'INVALID_ARGUMENT', /AbortSignal/],
  ['0 dimensions', () => db.collection('x', { dimensions: 0 }), 'INVALID_ARGUMENT', /dimensions is 0.*16384/],
  ['an unknown metric', () => db.collection('x', { dimensions: 3, metric: 'euclid' as any }), 'INVALID_ARGUMENT', /"euclid".*"cosine"/],
  ['an unknown type of rows', () => db.collection('x', { dimensions: 3, storage: 'f64' as any }), 'INVALID_ARGUMENT', /"f64".*"f32" or "f16"/],
  ['an unknown collection option', () => db.collection('x', { dimension: 3 } as any), 'INVALID_ARGUMENT', /"dimension"/],
  ['a field of an unknown type', () => db.collection('x', { dimensions: 3, fields: { a: 'date' } } as any), 'INVALID_ARGUMENT', /"a".*expected one of tag/],
  ['other dimensions than stored', () => db.collection('docs', { dimensions: 4 }), 'OPTIONS_MISMATCH', /dimensions/],
  ['another metric than stored', () => db.collection('docs', { metric: 'l2' }), 'OPTIONS_MISMATCH', /metric.*cosine.*l2/],
  ['another type of rows than stored', () => db.collection('docs', { storage: 'f16' }), 'OPTIONS_MISMATCH', /storage f32.*f16/],
  ['a value that f16 cannot hold', async () => (await db.collection('halves', { dimensions: 3, storage: 'f16' })).upsert([{ id: 1, vector: [1, 2, 70000] }]), 'NOT_FINITE', /70000.*position 2.*±65504/],
  ['a collection that is not there', () => db.collection('nothing'), 'NOT_FOUND', /nothing/],
  ['dropping what is not there', () => db.drop('nothing'), 'NOT_FOUND', /nothing/],
  ['an empty name', () => db.collection('', { dimensions: 1 }), 'INVALID_ARGUMENT', /non-empty/],
  ['a store without a name', () => open(''), 'INVALID_ARGUMENT', /non-empty/],
  ['an unknown option of open', () => open('x', { path: 'y' } as OpenOptions), 'INVALID_ARGUMENT', /"path"/],
  ['an unknown storage', () => open('x', { storage: 'disk' as any }), 'INVALID_ARGUMENT', /"disk".*"indexeddb"/],
  ['OPFS in Node', () => open('x', { storage: 'opfs' }), 'UNSUPPORTED', /"opfs".*folder/],
  ['a shared store in Node', () => open('x', { shared: true }), 'UNSUPPORTED', /tabs/],
  ['sharing for reading only', () => open('x', { shared: true, readOnly: true }), 'INVALID_ARGUMENT', /readOnly/],
  ['IndexedDB in Node', () => open('x', { storage: 'indexeddb' }), 'UNSUPPORTED', /folder/],
  ['a packed store that is none', () => open('x', { from: new Uint8Array(1000) }), 'FOREIGN_FILE', /./],
  ['an empty packed store', () => open('x', { from: new Uint8Array(0) }), 'CORRUPT', /0 bytes/],
  ['a packed store that is not there', () => open('x', { from: 'no such file' }), 'IO', /no such file/i],
];
/* eslint-enable */

test.each(refusals)('%s', async (_, call, code, message) => {
  const error = await failure(call());
  expect({ code: error.code, message: error.message }).toEqual({ code, message: expect.stringMatching(message) as string });
  expect(await docs.count()).toBe(1);
});

test('texts that begin with a byte order mark come back whole', async () => {
  const marked = await db.collection('\ufeffmarked', { dimensions: 3 });
  await marked.upsert([{ id: '\ufeffid', vector: row, metadata: '\ufefftext' }]);
  expect(await marked.get('\ufeffid')).toMatchObject({ id: '\ufeffid', metadata: '\ufefftext' });
  expect(await db.collections()).toContain('\ufeffmarked');
});

test('a part of a larger buffer is a packed store to start from', async () => {
  const packed = await db.export();
  const part = Buffer.concat([Buffer.alloc(7), packed, Buffer.alloc(9)]).subarray(7, 7 + packed.length);
  await using copy = await open('copy', { from: part });
  expect(await copy.collections()).toContain('docs');
  const answering = await openSync('copy', { from: part });
  expect(answering.collection('docs').count()).toBe(1);
  expect(() => answering.collection('docs').index(1n as never)).toThrow(NearfieldError);
  await answering.close();
});

test('a zero vector under cosine is at distance 1 from everything, exact and indexed', async () => { // c37
  const zero = await db.collection('zero', { dimensions: 3 });
  await zero.upsert({ ids: [1, 2, 3], vectors: new Float32Array([1, 0, 0, 0, 0, 0, 0.9, 0.1, 0]) });
  for (const exact of [true, false]) {
    const hits = await zero.search({ vector: [1, 0, 0], k: 3, exact });
    expect(hits.map(({ id }: { id: Id }) => id)).toEqual([1, 3, 2]);
    expect(hits[2]).toMatchObject({ distance: 1, score: 0 });
  }
});

describe('files', () => {
  async function written(): Promise<string> {
    const folder = temporaryFolder();
    await using store = await open('x', { storage: { folder } });
    const rows = await store.collection('docs', { dimensions: 3 });
    await rows.upsert([{ id: 1, vector: row }]);
    return folder;
  }

  test('a foreign folder is refused and stays as it is', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    const error = await failure(open('x', { storage: { folder } }));
    expect(error.code).toBe('FOREIGN_FILE');
    expect(readdirSync(folder)).toEqual(['notes.txt']);
  });

  test('a store of a later format version is refused and stays as it is', async () => {
    // A store of one record whose manifest was given version 2 and the checksum that goes with it.
    const golden = join(import.meta.dirname, '..', 'golden', 'newer-version');
    const folder = temporaryFolder();
    for (const name of readdirSync(golden)) copyFileSync(join(golden, name), join(folder, name));
    const error = await failure(open('x', { storage: { folder } }));
    expect(error.code).toBe('NEWER_VERSION');
    expect(error.message).toMatch(/version 2.*up to version 1/);
    expect(readdirSync(folder)).toEqual(readdirSync(golden));
    for (const name of readdirSync(golden)) {
      expect(readFileSync(join(folder, name))).toEqual(readFileSync(join(golden, name)));
    }
  });

  test('a file cut anywhere gives a complete state or an error', async () => { // c16
    const folder = await written();
    for (const name of readdirSync(folder)) {
      const whole = readFileSync(join(folder, name));
      for (const length of [0, 1, 7, 8, 64, whole.length >> 1, whole.length - 1]) {
        const copy = temporaryFolder();
        for (const other of readdirSync(folder)) copyFileSync(join(folder, other), join(copy, other));
        writeFileSync(join(copy, name), whole.subarray(0, length));
        await open('x', { storage: { folder: copy }, worker: false }).then(
          async (store) => store.close(),
          (error: NearfieldError) => expect(['CORRUPT', 'FOREIGN_FILE', 'NEWER_VERSION']).toContain(error.code),
        );
      }
    }
  });
});
