/** Connections of an app: their limits, and one that asks for much at once. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { listenOnPort, openHookshelf } from './support/embedded.ts';
import { RawConnection, encodeRequest, rawRequest } from './support/raw-http.ts';
import type { Place } from './support/raw-http.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const PIPELINED = 150;
// Client and server share one event loop, in which a new connection takes a few turns.
const SERVED_MAX = 50;

test('the limits of TCP do not lock the owner of the data directory out', async (context) => {
  const data = createTemporaryFolder();
  const server = {
    maxConnections: 1, requestTimeout: 0.1, headersTimeout: 0.1, keepAliveTimeout: 0.1,
  };
  const port = await listenOnPort(await openHookshelf(context, { data, settings: { server } }));
  const control = { path: join(data, 'control.sock') };
  const startAddition = (place: Place): RawConnection => {
    const connection = new RawConnection(place);
    context.after(() => connection.close());
    connection.send(encodeRequest('POST', '/api/books',
      { 'Content-Type': 'application/json', 'Content-Length': '16' }));
    return connection;
  };
  const slow = [startAddition(control), startAddition(control)];
  // So by now the same on the control socket would have been cut as well.
  assert.equal((await startAddition({ port }).answer()).status, 408);
  for (const connection of slow) {
    connection.send('{"title":"Emma"}');
    assert.equal((await connection.answer()).status, 201);
  }
  assert.equal((await rawRequest(control, 'GET', '/api/books')).status, 200);
});

test('an import of which nothing arrives ends after the request timeout', async (context) => {
  const app = await openHookshelf(context, { settings: { server: { requestTimeout: 1 } } });
  const connection = new RawConnection({ port: await listenOnPort(app) });
  context.after(() => connection.close());
  connection.send(encodeRequest('POST', '/api/books/import',
    { 'Content-Type': 'application/jsonl', 'Transfer-Encoding': 'chunked' }));
  const { status, body } = await connection.answer();
  assert.equal(status, 408);
  assert.match(body, /"detail":"nothing of the body arrived for 1 s"/);
});

// Every GET route.
test('whatever one connection pipelines, others have their turn between', async (context) => {
  const app = await openHookshelf(context);
  const place = { port: await listenOnPort(app) };
  const book = await app.books.add({ title: 'Emma' });
  const { body } = await rawRequest(place, 'GET', '/openapi.json');
  const paths = Object.entries(JSON.parse(body).paths as Record<string, object>)
    .filter(([path, methods]) => 'get' in methods && !path.startsWith('/webhook/'))
    // An answer without end: nothing comes after it on its connection.
    .filter(([path]) => path !== '/api/stream')
    .map(([path]) => path);
  assert(paths.length >= 10 && paths.includes('/docs') && paths.includes('/metrics'));
  for (const path of paths) {
    const before = await served(place, path);
    const connection = new RawConnection(place);
    const request = encodeRequest('GET', path.replace(/\{\w+\}/, book.id));
    connection.send(Buffer.concat(Array.from({ length: PIPELINED }, () => request)));
    await connection.answer();
    const count = await served(place, path) - before;
    connection.close();
    assert(count < SERVED_MAX, `${path}: ${count} of ${PIPELINED} were answered before`);
  }
});

/** How many requests of the route the server has answered. */
async function served(place: Place, path: string): Promise<number> {
  const { body } = await rawRequest(place, 'GET', '/metrics');
  const start = `hookshelf_http_requests_total{route="${path}",method="GET",`;
  return body.split('\n').filter((line) => line.startsWith(start))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
