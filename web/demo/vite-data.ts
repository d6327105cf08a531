// Serves the data files under data/ while developing, with byte ranges, as scripts/start.mjs does
// for the built page.
import { createReadStream, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import type { Plugin } from 'vite';

export function serveData(folder: string): Plugin {
  return {
    name: 'nearfield-demo-data',
    configureServer(server) {
      server.middlewares.use('/data', (request, response) => {
        serve(folder, request, response);
      });
    },
  };
}

function serve(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const name = basename(new URL(request.url ?? '/', 'http://localhost').pathname);
  const file = join(folder, name);
  const stats = name === '' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (!stats?.isFile()) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found');
    return;
  }
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const first = range ? Number(range[1]) : 0;
  const last = Math.min(range?.[2] ? Number(range[2]) : stats.size - 1, stats.size - 1);
  if (first > last) {
    response.writeHead(416, { 'Content-Range': `bytes */${stats.size}` }).end();
    return;
  }
  response.writeHead(range ? 206 : 200, {
    'Accept-Ranges': 'bytes',
    'Content-Length': last - first + 1,
    'Content-Type': name.endsWith('.txt') ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    ...(range ? { 'Content-Range': `bytes ${first}-${last}/${stats.size}` } : {}),
  });
  if (request.method === 'HEAD') response.end();
  else createReadStream(file, { start: first, end: last }).pipe(response);
}
