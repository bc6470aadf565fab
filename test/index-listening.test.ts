/** What the limits of TCP do not reach, and what closing waits for. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { createHookshelf } from '../src/index.ts';
import { RawConnection, encodeRequest, rawRequest } from './support/raw-http.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { someTurns, turnsUntil } from './support/turns.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

test('the limits of TCP do not lock the owner of the data directory out', async () => {
  const data = createTemporaryFolder();
  const settings = {
    server: {
      maxConnections: 1, requestTimeout: 0.1, headersTimeout: 0.1, keepAliveTimeout: 0.1,
    },
  };
  const app = await createHookshelf({ data, settings });
  const connections: RawConnection[] = [];
  const open = (place: { readonly port: number } | { readonly path: string }): RawConnection => {
    const connection = new RawConnection(place);
    connections.push(connection);
    return connection;
  };
  try {
    const place = { port: Number(new URL((await app.listen({ port: 0 })).url).port) };
    const control = { path: join(data, 'control.sock') };
    const slow = [open(control), open(control)];
    for (const connection of slow) {
      connection.send(encodeRequest('POST', '/api/books',
        { ...JSON_TYPE, 'Content-Length': '16' }));
    }
    const late = open(place);
    late.send(encodeRequest('POST', '/api/books', { ...JSON_TYPE, 'Content-Length': '16' }));
    // So by now the same on the control socket would have been cut as well.
    assert.equal((await late.answer()).status, 408);
    for (const connection of slow) {
      connection.send('{"title":"Emma"}');
      assert.equal((await connection.answer()).status, 201);
    }
    assert.equal((await rawRequest(control, 'GET', '/api/books')).status, 200);
  } finally {
    for (const connection of connections) connection.close();
    await app.close();
  }
});

test('closing waits for deliveries under way, and what came of them is kept', async () => {
  const data = createTemporaryFolder();
  let requests = 0;
  let answer: () => void = () => {};
  const target = createServer((request, response) => {
    requests += 1;
    request.resume();
    answer = () => response.end('taken');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    target.once('listening', resolve);
  });
  const settings = { http: { denyAddresses: [] } };
  const app = await createHookshelf({ data, settings });
  try {
    const { port } = target.address() as AddressInfo;
    const control = { path: join(data, 'control.sock') };
    const hook = { targetUrl: `http://127.0.0.1:${port}/`, triggerEvent: 'paid' };
    const made = await rawRequest(control, 'POST', '/api/outgoing-webhooks', JSON_TYPE,
      JSON.stringify(hook));
    assert.equal(made.status, 201);
    const [id = ''] = await app.webhooks.emit('paid', { total: 3 });
    await turnsUntil(() => requests === 1);
    let isClosed = false;
    const closing = app.close().then(() => {
      isClosed = true;
    });
    await someTurns(500);
    assert.equal(isClosed, false, 'the target has not answered yet');
    answer();
    await closing;
    const again = await createHookshelf({ data, settings });
    const { body } = await rawRequest(control, 'GET', `/api/deliveries/${id}`);
    await again.close();
    const { status, attempts } = JSON.parse(body);
    assert.deepEqual([status, attempts.length, attempts[0]?.statusCode, requests],
      ['delivered', 1, 200, 1]);
  } finally {
    await app.close();
    target.closeAllConnections();
    target.close();
  }
});

test('an import of which nothing arrives ends after the request timeout', async () => {
  const data = createTemporaryFolder();
  const app = await createHookshelf({ data, settings: { server: { requestTimeout: 0.2 } } });
  const { url } = await app.listen({ port: 0 });
  const connection = new RawConnection({ port: Number(new URL(url).port) });
  try {
    connection.send(encodeRequest('POST', '/api/books/import',
      { 'Content-Type': 'application/jsonl', 'Transfer-Encoding': 'chunked' }));
    const { body } = await connection.answer();
    assert.match(String(body), /"error":"nothing of the body arrived for 0.2 s"/);
  } finally {
    connection.close();
    await app.close();
  }
});
