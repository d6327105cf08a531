// Nearfield in the calling thread, as the other libraries are.
const { open } = await import('/dist/sync.js');

const recallOf = (setting) => (setting === undefined ? undefined : setting / 1000);

export async function load({ store, dimensions, metric }) {
  const db = await open(store, { storage: 'indexeddb' });
  let docs;
  return {
    build(vectors) {
      docs = db.collection('docs', { dimensions, metric });
      docs.upsert({ ids: Array.from({ length: vectors.length / dimensions }, (_, i) => i), vectors });
    },
    save: () => db.flush(),
    open() {
      docs = db.collection('docs');
    },
    search: (vector, setting) => docs.search({ vector, k: 10, recall: recallOf(setting) }).map(({ id }) => id),
    about() {
      const { variant, kernels } = db.info();
      return `${variant}, kernels ${kernels}, in the calling thread`;
    },
    close: () => db.close(),
  };
}
