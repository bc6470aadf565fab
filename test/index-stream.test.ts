/** The event stream of an embedded app, mounted in another program's server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createHookshelf } from '../src/index.ts';
import { followStream } from './support/event-stream.ts';
import { until } from './support/until.ts';

test('a mounted app streams as it happens, and closing it ends the stream', async (context) => {
  const data = mkdtempSync(join(tmpdir(), 'hookshelf-'));
  const shelf = await createHookshelf({ data });
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/shelf/') !== true) return void response.end('mine');
    request.url = request.url.slice('/shelf'.length);
    return shelf.handler(request, response);
  }).listen(0, '127.0.0.1');
  context.after(async () => {
    await shelf.close();
    server.closeAllConnections();
    server.close();
    rmSync(data, { recursive: true });
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const torn = await followStream({ port }, { path: '/shelf/api/stream' });
  const reader = await followStream({ port }, { path: '/shelf/api/stream?topics=books' });
  const { id } = await shelf.books.add({ title: 'Emma', authors: [{ name: 'Jane Austen' }] });
  await reader.until(1);
  await torn.until(1);
  await torn.close();
  await shelf.books.patch(id, { subtitle: 'A novel' });
  await shelf.books.delete(id);
  await reader.until(3);
  assert.deepEqual(reader.events.map(({ data: text }) => JSON.parse(text).change),
    ['created', 'updated', 'deleted']);
  assert.equal(JSON.parse(reader.events[0]?.data ?? '').title, 'Emma');
  await shelf.close();
  await until('it has ended', reader.isEnded);
  assert.ok(reader.response.complete, 'it was not torn');
});
