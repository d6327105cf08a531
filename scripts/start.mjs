// npm start: sets up, builds and serves the demo page. PORT and HOST choose the address.
import { join } from 'node:path';
import { buildWeb } from './build.mjs';
import { build, root } from './lib/paths.mjs';
import { StepError, main, run, step } from './lib/run.mjs';
import { serve } from './lib/static-server.mjs';
import { setUp } from './setup.mjs';

const port = Number(process.env.PORT ?? 8080);
const host = process.env.HOST ?? 'localhost';

/** Where the page finds its files: its own, and under /data/ what prepare.mjs made for it. */
const mounts = {
  '/': join(build, 'demo'),
  '/data/': join(root, 'bench', 'datasets', 'cache', 'demo'),
};

async function listen() {
  try {
    return await serve({ mounts, port, host });
  } catch (error) {
    if (error.code === 'EADDRINUSE') {
      throw new StepError(`port ${port} is in use; choose another: PORT=8081 npm start`);
    }
    throw new StepError(`cannot listen on ${host}:${port}: ${error.message}`);
  }
}

await main(async () => {
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new StepError(`PORT must be a number from 0 to 65535, not "${process.env.PORT}"`);
  }
  await setUp(['web']);
  await buildWeb();
  await step('demo data', () => run(process.execPath, ['bench/datasets/prepare.mjs', 'demo-words']));
  const server = await listen();
  console.log(`\nNearfield's demo page: http://${host}:${server.address().port}/  (Ctrl+C stops it)`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
});
