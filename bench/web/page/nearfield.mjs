// Nearfield as a page has it: the engine in a worker, a message for each search. `simd` keeps it from relaxed SIMD.
const { open } = await import('/dist/index.js');

const recallOf = (setting) => (setting === undefined ? undefined : setting / 1000);

export async function load({ store, dimensions, metric, simd }) {
  // A plain address means plain SIMD.
  const options = simd ? { wasmUrl: new URL('/dist/nearfield-simd.wasm', import.meta.url) } : {};
  const db = await open(store, options);
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
    async about() {
      const { variant, kernels } = await db.info();
      return `${variant}, kernels ${kernels}, in its worker`;
    },
    close: () => db.close(),
  };
}
