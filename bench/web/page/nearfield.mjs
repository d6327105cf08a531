/* global navigator */
// Nearfield as a page has it: the engine in a worker, a message for each search. `simd` keeps it from relaxed SIMD.
// With `threads` it builds and answers batches with all of them.
const { open } = await import('/dist/index.js');

const recallOf = (setting) => (setting === undefined ? undefined : setting / 1000);

export async function load({ store, dimensions, metric, simd, threads }) {
  const simdThreads = (file) => (file.includes('relaxed') ? '/none' : new URL(`/dist/${file}`, import.meta.url));
  const wasmUrl = threads ? simdThreads : new URL('/dist/nearfield-simd.wasm', import.meta.url);
  const db = await open(store, { threads: threads ? 'auto' : 1, ...(simd ? { wasmUrl } : {}) });
  let docs;
  return {
    async build(vectors) {
      docs = await db.collection('docs', { dimensions, metric });
      await docs.upsert({ ids: Array.from({ length: vectors.length / dimensions }, (_, i) => i), vectors });
    },
    save: () => db.flush(),
    async open() {
      docs = await db.collection('docs');
    },
    search: async (vector, setting) => (await docs.search({ vector, k: 10, recall: recallOf(setting) })).map(({ id }) => id),
    async searchMany(vectors, setting) {
      const answers = await docs.searchMany({ vectors, k: 10, recall: recallOf(setting) });
      return answers.map((hits) => hits.map(({ id }) => id));
    },
    async about() {
      const info = await db.info();
      return `${info.variant}, kernels ${info.kernels}, in its worker, ${info.threads} of ${navigator.hardwareConcurrency} threads`;
    },
    close: () => db.close(),
  };
}
