// A small static file server for the demo page and the browser tests.
//
// The pages are cross-origin isolated (COOP and COEP), which shared memory and threads need, unless asked otherwise.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';

const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
};

/** The file a path means, or null; never one outside the mounted folder. */
function find(mounts, path) {
  const mount = mounts.find(({ prefix }) => path.startsWith(prefix));
  if (!mount) return null;
  const rest = normalize(path.slice(mount.prefix.length - 1));
  let file = join(mount.folder, rest);
  if (!file.startsWith(mount.folder + sep) && file !== mount.folder) return null;
  try {
    if (statSync(file).isDirectory()) file = join(file, 'index.html');
    const { size, mtimeMs } = statSync(file);
    return { file, size, etag: `"${size.toString(16)}-${Math.trunc(mtimeMs).toString(16)}"` };
  } catch {
    return null;
  }
}

/** The first and last byte of a single range; undefined for none, null for one that cannot be met. */
function parseRange(header, size) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return undefined;
  const start = match[1] === '' ? Math.max(0, size - Number(match[2])) : Number(match[1]);
  const end = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1);
  return start <= end ? { start, end } : null;
}

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

function answer(mounts, isolated, request, response) {
  const headers = {
    ...(isolated ? isolation : {}),
    'X-Content-Type-Options': 'nosniff',
  };
  const fail = (status, extra = {}) => {
    response.writeHead(status, { ...headers, ...extra, 'Content-Type': 'text/plain' });
    response.end(request.method === 'HEAD' ? undefined : `${status}\n`);
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') return fail(405, { Allow: 'GET, HEAD' });
  let path;
  try {
    path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
  } catch {
    return fail(400);
  }
  const found = path.includes('\0') ? null : find(mounts, path);
  if (!found) return fail(404);

  const { file, size, etag } = found;
  headers['Content-Type'] = types[extname(file)] ?? 'application/octet-stream';
  headers['Accept-Ranges'] = 'bytes';
  headers.ETag = etag;
  headers['Cache-Control'] = 'no-cache'; // keep it, but ask each time: the answer is mostly 304
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304, headers);
    return response.end();
  }
  const range = parseRange(request.headers.range, size);
  if (range === null) return fail(416, { 'Content-Range': `bytes */${size}` });
  headers['Content-Length'] = range ? range.end - range.start + 1 : size;
  if (range) headers['Content-Range'] = `bytes ${range.start}-${range.end}/${size}`;
  response.writeHead(range ? 206 : 200, headers);
  if (request.method === 'HEAD' || size === 0) return response.end();
  const stream = createReadStream(file, range);
  stream.on('error', () => response.destroy());
  response.on('close', () => stream.destroy());
  return stream.pipe(response);
}

/**
 * Serves folders: `mounts` maps a URL prefix that ends with "/" to a folder; the longest match wins.
 * Resolves to the listening server; port 0 takes a free one.
 */
export function serve({ mounts, isolated = true, port = 0, host = '127.0.0.1' }) {
  const sorted = Object.entries(mounts)
    .map(([prefix, folder]) => ({ prefix, folder: normalize(folder) }))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  const server = createServer((request, response) => answer(sorted, isolated, request, response));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}
