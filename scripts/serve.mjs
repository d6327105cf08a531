// node scripts/serve.mjs: serves the built demo page and its data; sets up and builds nothing.
import { join } from 'node:path';
import { build, root } from './lib/paths.mjs';
import { StepError, main } from './lib/run.mjs';
import { serve } from './lib/static-server.mjs';

const port = Number(process.env.PORT ?? 8080);
const host = process.env.HOST ?? '127.0.0.1';

/** Where the page finds its files: its own, and under data/ what bench/datasets/prepare.mjs made for it. */
const mounts = {
  '/': join(build, 'demo'),
  '/data/': join(root, 'bench', 'datasets', 'cache', 'demo'),
};

export function checkAddress() {
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new StepError(`PORT must be a number from 0 to 65535, not "${process.env.PORT}"`);
  }
}

/** Serves the demo page at PORT (0 takes a free one) and HOST, prints its address and goes on serving. */
export async function serveDemo() {
  checkAddress();
  const server = await serve({ mounts, port, host }).catch((error) => {
    const free = `port ${port} is in use; choose another, as in PORT=8081 npm start`;
    throw new StepError(
      error.code === 'EADDRINUSE' ? free : `cannot listen on ${host}, port ${port}: ${error.message}`,
    );
  });
  const name = host === '127.0.0.1' ? 'localhost' : host;
  console.log(`\nThe demo page: http://${name}:${server.address().port}/  (Ctrl+C stops it)`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
}

if (process.argv[1] === import.meta.filename) await main(serveDemo);
