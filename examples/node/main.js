// node main.js [#rrggbb]: prints the named colours nearest to one. The store is kept in ./store.
import { open } from 'nearfield';

const colours = {
  black: '#000000', white: '#ffffff', red: '#ff0000', lime: '#00ff00', blue: '#0000ff', gray: '#808080',
  navy: '#000080', teal: '#008080', olive: '#808000', purple: '#800080', orange: '#ffa500', gold: '#ffd700',
  salmon: '#fa8072', orchid: '#da70d6', skyblue: '#87ceeb', royalblue: '#4169e1', seagreen: '#2e8b57', tan: '#d2b48c',
};

/** Red, green and blue, from 0 to 1. */
const vectorOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

const db = await open('colours', { storage: { folder: './store' } });
const named = await db.collection('named', { dimensions: 3, metric: 'l2' });
const found = await named.count();
if (found === 0) {
  const ids = Object.keys(colours);
  await named.upsert({ ids, vectors: ids.map((id) => vectorOf(colours[id])) });
}
console.log(found === 0 ? 'stored' : `found ${found}`);
for (const { id, score } of await named.search({ vector: vectorOf(process.argv[2] ?? '#3366cc'), k: 5 })) {
  console.log(`${id} (${score.toFixed(2)})`);
}
await db.close();
