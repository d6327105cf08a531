import { open } from 'nearfield';

const colours = {
  black: '#000000', white: '#ffffff', red: '#ff0000', lime: '#00ff00', blue: '#0000ff', gray: '#808080',
  navy: '#000080', teal: '#008080', olive: '#808000', purple: '#800080', orange: '#ffa500', gold: '#ffd700',
  salmon: '#fa8072', orchid: '#da70d6', skyblue: '#87ceeb', royalblue: '#4169e1', seagreen: '#2e8b57', tan: '#d2b48c',
};

/** Red, green and blue, from 0 to 1. */
const vectorOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

const picker = document.querySelector('#colour');
const status = document.querySelector('#status');

const db = await open('colours-vanilla');
const named = await db.collection('named', { dimensions: 3, metric: 'l2' });
const found = await named.count();
if (found === 0) {
  const records = Object.entries(colours).map(([id, hex]) => ({ id, vector: vectorOf(hex), metadata: { hex } }));
  await named.upsert(records);
  await db.flush();
}
status.textContent = found === 0 ? 'stored' : `found ${found} in ${db.storage}`;

async function show() {
  const hits = await named.search({ vector: vectorOf(picker.value), k: 5, include: ['metadata'] });
  document.querySelector('#hits').replaceChildren(
    ...hits.map(({ id, score, metadata }) => {
      const item = document.createElement('li');
      item.textContent = `${id} (${score.toFixed(2)})`;
      item.style.color = metadata.hex;
      return item;
    }),
  );
}
picker.addEventListener('input', show);
await show();
