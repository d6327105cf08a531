// hnswlib-wasm. Cosine is the inner product of normalised rows, which is quicker here than its own cosine.
import { prepared } from '/lib/unit-rows.mjs';

const { loadHnswlib } = await import('/peers/hnswlib-wasm/dist/hnswlib.js');

export async function load(task) {
  const { store, dimensions, metric, rows } = task;
  const library = await loadHnswlib();
  const files = library.EmscriptenFileSystemManager;
  const synced = (read) => new Promise((done) => files.syncFS(read, done));
  const index = new library.HierarchicalNSW(metric === 'l2' ? 'l2' : 'ip', dimensions, '');
  return {
    build(vectors) {
      index.initIndex(rows, 16, 200, 100);
      const units = prepared(vectors, task);
      for (let i = 0; i < rows; ++i) index.addPoint(units.subarray(i * dimensions, (i + 1) * dimensions), i, false);
    },
    async save() {
      index.writeIndex(store);
      await synced(false);
    },
    async open() {
      await synced(true);
      await index.readIndex(store, rows);
    },
    search(query, ef = 100, filter = undefined) {
      index.setEfSearch(ef);
      return index.searchKnn(prepared(query, task), 10, filter).neighbors;
    },
    about: () => 'f32 rows, in the calling thread',
  };
}
