// A page in Chromium for a benchmark: an empty one that can import dist/, the libraries to compare with and the data.
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { root } from '../../scripts/lib/paths.mjs';
import { serve } from '../../scripts/lib/static-server.mjs';
import { cache } from '../lib/data-set.mjs';

const launchArguments = [
  '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update',
];

/** Calls `use(page)` and closes everything. */
export async function withPage(use) {
  const mounts = {
    '/': join(root, 'tests', 'e2e', 'blank'),
    '/page/': join(import.meta.dirname, 'page'),
    '/dist/': join(root, 'dist'),
    '/lib/': join(root, 'bench', 'lib'),
    '/peers/': join(root, 'bench', 'peers', 'node_modules'),
    '/data/': cache,
  };
  const server = await serve({ mounts });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: launchArguments });
  try {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${server.address().port}/`);
    return await use(page);
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}
