import { open } from 'nearfield';

const colours = {
  black: '#000000', white: '#ffffff', red: '#ff0000', lime: '#00ff00', blue: '#0000ff', gray: '#808080',
  navy: '#000080', teal: '#008080', olive: '#808000', purple: '#800080', orange: '#ffa500', gold: '#ffd700',
  salmon: '#fa8072', orchid: '#da70d6', skyblue: '#87ceeb', royalblue: '#4169e1', seagreen: '#2e8b57', tan: '#d2b48c',
};

interface Colour {
  hex: string;
}

/** Red, green and blue, from 0 to 1. */
const vectorOf = (hex: string): number[] => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);

async function start(): Promise<void> {
  const picker = document.querySelector('input')!;
  const db = await open('colours-vite');
  const named = await db.collection<Colour>('named', { dimensions: 3, metric: 'l2' });
  const found = await named.count();
  if (found === 0) {
    const records = Object.entries(colours).map(([id, hex]) => ({ id, vector: vectorOf(hex), metadata: { hex } }));
    await named.upsert(records);
    await db.flush();
  }
  document.querySelector('#status')!.textContent = found === 0 ? 'stored' : `found ${found} in ${db.storage}`;

  async function show(): Promise<void> {
    const hits = await named.search({ vector: vectorOf(picker.value), k: 5, include: ['metadata'] });
    const items = hits.map(({ id, score, metadata }) => {
      const item = document.createElement('li');
      item.textContent = `${id} (${score.toFixed(2)})`;
      item.style.color = metadata?.hex ?? '';
      return item;
    });
    document.querySelector('#hits')!.replaceChildren(...items);
  }
  picker.addEventListener('input', () => void show());
  await show();
}

void start();
