// EdgeVec. An index has one ef, so there is one for each ef asked. Cosine is L2 over normalised rows: with its own
// cosine and dot product, 0.9.0 answers with the farthest rows.
import { prepared } from '/lib/unit-rows.mjs';

const { default: init, EdgeVec, EdgeVecConfig } = await import('/peers/edgevec/edgevec.js');

export async function load(task) {
  const { store, dimensions, metric, rows } = task;
  if (metric === 'dot') throw new Error('EdgeVec has no dot product that answers with the nearest');
  await init();
  const indexes = new Map(); // by ef
  return {
    build(vectors, ef) {
      const config = new EdgeVecConfig(dimensions);
      config.metric = 'l2';
      config.m = 16;
      config.m0 = 32;
      config.ef_construction = 200;
      config.ef_search = ef;
      const index = new EdgeVec(config);
      index.insertBatchFlat(prepared(vectors, task), rows);
      indexes.set(ef, index);
    },
    save: () => [...indexes.values()][0].save(store),
    async open() {
      indexes.set(100, await EdgeVec.load(store));
    },
    // Its ids begin at 1.
    search: (query, ef = 100) => indexes.get(ef).search(prepared(query, task), 10).map(({ id }) => id - 1),
    about: () => 'f32 rows, in the calling thread',
  };
}
