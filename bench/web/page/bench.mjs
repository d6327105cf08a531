// Runs in the page: one peer, loaded by name, told by compare.mjs what to do. A peer's module exports
//   load(task)                 gets its code; task is { store, rows, dimensions, metric }
// and what it resolves to has
//   build(vectors, ef)         from rows to an index that answers; ef for those that fix it here
//   save()                     into IndexedDB
//   open()                     what save() left there, in another page
//   searchMany(queries, setting)   where it can: the same for all queries at once, in one array
//   search(query, setting)     the ids of the ten nearest, perhaps as a promise; without a setting, with a usual one
//   about()                    what ran, in a few words
//   close()                    lets go of the store, if it must
/* global window */

const k = 10;
let peer;
let task;
let queries;

async function floats(address, count) {
  const headers = count === undefined ? {} : { Range: `bytes=0-${count * 4 - 1}` };
  return new Float32Array(await (await fetch(address, { headers })).arrayBuffer());
}

const flat = (answers) => answers.flatMap((ids) => Array.from({ length: k }, (_, i) => ids[i] ?? -1));

const calls = {
  async load(given) {
    task = given;
    const all = await floats(task.queries);
    queries = [];
    for (let at = 0; at < all.length; at += task.dimensions) queries.push(all.slice(at, at + task.dimensions));
    peer = await (await import(task.module)).load(task);
  },

  async build(ef) {
    const vectors = await floats(task.base, task.rows * task.dimensions);
    const start = performance.now();
    await peer.build(vectors, ef);
    return { seconds: (performance.now() - start) / 1000, about: await peer.about() };
  },

  save: () => peer.save(),

  about: () => peer.about(),

  /** All queries in one call. */
  async batch(setting) {
    const together = Float32Array.from(queries.flatMap((query) => [...query]));
    const start = performance.now();
    const answers = await peer.searchMany(together, setting);
    const seconds = (performance.now() - start) / 1000;
    return { seconds, ids: flat(answers) };
  },

  async search(setting) {
    const answers = [];
    const start = performance.now();
    for (const query of queries) answers.push(await peer.search(query, setting));
    const seconds = (performance.now() - start) / 1000;
    return { seconds, ids: flat(answers) };
  },

  /** From a page that has none of the peer's code to the first answer. */
  async open(given) {
    const query = (await floats(given.queries, given.dimensions)).slice(0, given.dimensions);
    const start = performance.now();
    const opened = await (await import(given.module)).load(given);
    await opened.open();
    const ids = await opened.search(query);
    const seconds = (performance.now() - start) / 1000;
    await opened.close?.();
    return { seconds, ids };
  },
};

window.bench = async (call, given) => {
  try {
    return await calls[call](given);
  } catch (error) {
    throw error instanceof Error ? error : new Error(error?.message ?? String(error)); // libraries throw what they like
  }
};
