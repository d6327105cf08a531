// node report-variant.mjs PACKAGE: builds a small store and prints the engine's variant and some answers.
const { open } = await import(process.argv[2]);
const dimensions = 48;
let state = 7;
const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) - 0.5;
const db = await open('variant');
const docs = db.collection('docs', { dimensions });
const ids = Array.from({ length: 4000 }, (_, i) => i);
docs.upsert({ ids, vectors: Float32Array.from({ length: ids.length * dimensions }, random) });
const vectors = Float32Array.from({ length: 20 * dimensions }, random);
console.log(JSON.stringify({ variant: db.info().variant, hits: docs.searchMany({ vectors, k: 10 }) }));
