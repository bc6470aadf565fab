/** The event stream of an embedded app, mounted in another program's server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addRecord, ask } from './e2e/ask.ts';
import { listenOnPort, openHookshelf, serveHandler } from './support/embedded.ts';
import { followStream } from './support/event-stream.ts';
import { until } from './support/until.ts';

test('a mounted app streams as it happens, and closing it ends the stream', async (context) => {
  const shelf = await openHookshelf(context);
  const { port } = await serveHandler(context, (request, response) => {
    if (request.url?.startsWith('/shelf/') !== true) return void response.end('mine');
    request.url = request.url.slice('/shelf'.length);
    return shelf.handler(request, response);
  });
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

test('what is streamed of a record is what the API gives', async (context) => {
  const shelf = await openHookshelf(context);
  const port = await listenOnPort(shelf);
  const url = `http://127.0.0.1:${port}`;
  await addRecord(`${url}/api/action-configurations`, { identifier: 'note', actionType: 'log' });
  const incoming = await addRecord(`${url}/api/incoming-webhooks`,
    { pathSegment: 'in', actionConfiguration: 'note', inbox: 'all' });
  await addRecord(`${url}/api/outgoing-webhooks`, {
    triggerEvent: 'book.created', targetUrl: 'http://127.0.0.1:9/', enabled: true,
  });
  const all = await followStream({ port });
  const ofHook = await followStream({ port }, { path: '/api/stream?hook=in' });
  await shelf.books.add({ title: 'Emma', authors: [{ name: 'Jane Austen' }] });
  await ask(`${url}/webhook/in/in`, { method: 'POST', body: { a: 1 } });
  await all.until(3);
  await ofHook.until(1);
  assert.equal(JSON.parse(ofHook.events[0]?.data ?? '').hook, incoming);
  const paths: Readonly<Record<string, string>> =
    { book: 'books', request: 'requests', delivery: 'deliveries' };
  for (const [event, path] of Object.entries(paths)) {
    const seen = all.events.filter((one) => one.event === event);
    const { change, ...told } = JSON.parse(seen[0]?.data ?? '');
    assert.equal(change, 'created', event);
    const { text } = await ask(`${url}/api/${path}`);
    const [listed] = JSON.parse(text);
    const { status: _, attempts: __, nextAttemptAt: ___, ...rest } = listed;
    const { status: _1, attempts: _2, nextAttemptAt: _3, ...toldRest } = told;
    assert.deepEqual(event === 'delivery' ? toldRest : told, event === 'delivery' ? rest : listed);
  }
  await all.close();
  await ofHook.close();
});
