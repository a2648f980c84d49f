// SPDX-License-Identifier: Apache-2.0
// Serves a folder on localhost. node serve.mjs FOLDER [BASE] [PORT]
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
  '.svg': 'image/svg+xml', '.wasm': 'application/wasm', '.woff2': 'font/woff2', '.woff': 'font/woff', '.ttf': 'font/ttf', '.png': 'image/png',
};

/** The file for a path: itself, its .html, or the index of a folder; undefined if there is none. */
function fileFor(folder, path) {
  const inside = join(folder, normalize(path));
  if (!inside.startsWith(resolve(folder))) return undefined;
  return [inside, `${inside}.html`, join(inside, 'index.html')].find((one) => existsSync(one) && statSync(one).isFile());
}

/** Starts a server on a free port, or on the given one; resolves to { address, close }. */
export function serve(folder, base = '/', port = 0) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const found = path.startsWith(base) ? fileFor(resolve(folder), path.slice(base.length)) : undefined;
    const missing = found ?? fileFor(resolve(folder), '404.html');
    response.writeHead(found ? 200 : 404, { 'content-type': types[extname(missing ?? '')] ?? 'application/octet-stream' });
    if (missing) createReadStream(missing).pipe(response);
    else response.end();
  });
  return new Promise((done, fail) => {
    server.on('error', fail);
    server.listen(port, '127.0.0.1', () => {
      const { port: chosen } = server.address();
      done({ address: `http://localhost:${chosen}${base}`, close: () => server.close() });
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder, base = '/', port = '4173'] = process.argv.slice(2);
  serve(folder, base, Number(port))
    .catch(() => serve(folder, base)) // the usual port is taken
    .then(({ address }) => console.log(`The site is at ${address}  (Ctrl+C ends it)`));
}
