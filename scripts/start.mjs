// npm start: sets up, builds and serves the demo page. PORT and HOST choose the address.
import { buildWeb, prepareDemoData } from './build.mjs';
import { main } from './lib/run.mjs';
import { checkAddress, serveDemo } from './serve.mjs';
import { setUp } from './setup.mjs';

await main(async () => {
  checkAddress(); // a wrong PORT is told now, not after minutes of building
  await setUp(['web', 'native']);
  await buildWeb();
  await prepareDemoData();
  await serveDemo();
});
