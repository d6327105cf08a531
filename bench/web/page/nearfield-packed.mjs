// Nearfield in the calling thread, with a store that the native program packed.
const { open } = await import('/dist/sync.js');

export async function load({ packed }) {
  const from = await (await fetch(packed)).arrayBuffer();
  const db = await open('packed', { from });
  const docs = db.collection('default');
  return {
    search: (vector, setting) => docs.search({ vector, k: 10, recall: setting / 1000 }).map(({ id }) => id),
    about() {
      const { variant, kernels } = db.info();
      return `${variant}, kernels ${kernels}`;
    },
  };
}
