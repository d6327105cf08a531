// node report-threads.mjs PACKAGE THREADS [FOLDER]: builds a small store with so many threads, from the engines in
// FOLDER, and prints what ran and some answers. Leaves the store open: the process must end nevertheless.
import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const [, , entry, threads, folder] = process.argv;
const { open } = await import(entry);
const dimensions = 48;
let state = 7;
const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) - 0.5;
const options = { threads: threads === 'auto' ? 'auto' : Number(threads) };
if (folder) options.wasmUrl = (file) => new URL(file, pathToFileURL(`${folder}/`));
const db = await open('threads', options);
const docs = await db.collection('docs', { dimensions });
const ids = Array.from({ length: 4000 }, (_, i) => i);
await docs.upsert({ ids, vectors: Float32Array.from({ length: ids.length * dimensions }, random) });
const vectors = Float32Array.from({ length: 100 * dimensions }, random);
const hits = await docs.searchMany({ vectors, k: 10, include: ['vector'] });
const exported = await db.export();
const info = await db.info();
console.log(
  JSON.stringify({
    variant: info.variant,
    threads: info.threads,
    hash: createHash('sha256').update(exported).update(JSON.stringify(hits)).digest('hex'),
  }),
);
