// Sites for the browser tests: folders that are served, and pages that have the package.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { root } from '../package/packed.ts';
// Types only: pages import the built package from the server.
import type * as Nearfield from 'nearfield';

type Serve = (options: { mounts: Record<string, string>; isolated?: boolean }) => Promise<Server>;

declare global {
  interface Window {
    nearfield: typeof Nearfield;
    /** A store that a test has open. */
    db: Nearfield.Database;
  }
}

export const blankFolder = join(import.meta.dirname, 'blank');
export const dist = join(root, 'dist');

const servers: Server[] = [];

/** Serves folders, cross-origin isolated unless asked otherwise; returns the address of the site. */
export async function serve(mounts: Record<string, string>, isolated = true): Promise<string> {
  const script = new URL('../../scripts/lib/static-server.mjs', import.meta.url).href;
  const { serve: start } = (await import(script)) as { serve: Serve };
  const server = await start({ mounts, isolated });
  servers.push(server);
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

/** Ends what serve() started. */
export function endSites(): void {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
}

/** A site with an empty page and the built package. */
export const serveBlank = (isolated = true): Promise<string> =>
  serve({ '/': blankFolder, '/nearfield/': dist }, isolated);

/** Opens the page of a site, with the package as window.nearfield. */
export async function load(page: Page, site: string): Promise<void> {
  await page.goto(site);
  await page.evaluate(async (address) => {
    window.nearfield = (await import(address)) as typeof Nearfield;
  }, `${site}nearfield/index.js`);
}
