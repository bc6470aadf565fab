/** `app.request`: an embedded app does what the API does, in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Hookshelf } from '../src/index.ts';
import { openHookshelf } from './support/embedded.ts';

/** With rules that keep strangers out, which do not concern the program itself. */
function open(context: TestContext): Promise<Hookshelf> {
  const server = { apiToken: 'a-token-of-sixteen', allowedHosts: ['shelf.example'] };
  return openHookshelf(context, { settings: { server } });
}

test('books come in each format: parsed where it is JSON, else as text', async (context) => {
  const { books, request } = await open(context);
  await books.add({ title: 'Emma' });
  const { books: [emma] } = await books.list();
  for (const target of ['/api/books', `/api/books/${emma?.id}`] as const) {
    for (const format of ['bibtex', 'ris', 'jsonl', 'csv']) {
      const { body } = await request('GET', `${target}?format=${format}`);
      assert.match(String(body), /Emma/, format);
    }
    for (const format of ['csl', 'jsonld']) {
      const { body } = await request('GET', `${target}?format=${format}`);
      assert.match(JSON.stringify(body), /^[[{].*"Emma"/, format);
    }
  }
});

test('a file is imported from its bytes, in whatever encoding', async (context) => {
  const { books, request } = await open(context);
  const file = Buffer.from('@book{k, title = {\xc9mile}}', 'latin1');
  const { body } = await request('POST', '/api/books/import?format=bibtex', file);
  assert.match(String(body), /^\{"format":"bibtex","encoding":"windows-1252"\}\n/);
  assert.deepEqual((await books.list()).books.map(({ title }) => title), ['Émile']);
});

test('hooks, configurations and deliveries are managed as through the API', async (context) => {
  const { request } = await open(context);
  const { status, headers, body: note } = await request('POST', '/api/action-configurations', {
    identifier: 'note', actionType: 'log', options: { level: 'debug' },
  });
  assert.deepEqual([status, headers.location, note.options],
    [201, '/api/action-configurations/note', { level: 'debug' }]);
  const { body: hook } = await request('POST', '/api/incoming-webhooks', {
    pathSegment: 'in', actionConfiguration: note.identifier, secret: 'hush',
  });
  assert.deepEqual([hook.hasSecret, hook.enabled], [true, true]);
  const { body: examples } =
    await request('GET', `/api/incoming-webhooks/${hook.identifier}/examples`);
  assert.match(examples.curl ?? '', /webhook\/in\/in/);
  const path = `/api/incoming-webhooks/${hook.identifier}` as const;
  assert.equal((await request('PUT', path, { ...hook, enabled: false })).body.enabled, false);
  assert.equal((await request('PATCH', path, { secret: null })).body.hasSecret, false);
  const { body: outgoing } = await request('POST', '/api/outgoing-webhooks', {
    targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.opened', enabled: false,
  });
  const { body: { deliveries } } =
    await request('POST', '/api/events', { name: 'shop.opened', payload: [1] });
  assert.deepEqual(deliveries, [], 'the hook is disabled');
  await request('PATCH', `/api/outgoing-webhooks/${outgoing.identifier}`, { enabled: true });
  const emitted = await request('POST', '/api/events', { name: 'shop.opened' });
  const [identifier = ''] = emitted.body.deliveries;
  const { body: delivery } = await request('GET', `/api/deliveries/${identifier}`);
  assert.equal(delivery.hook, outgoing.identifier);
  await request('POST', `/api/deliveries/${identifier}/cancel`);
  const { body: cancelled } = await request('GET', '/api/deliveries?status=cancelled');
  assert.deepEqual(cancelled.map((one) => one.identifier), [identifier]);
  assert.deepEqual((await request('DELETE', path)).body, null);
  assert.deepEqual((await request('GET', '/api/incoming-webhooks')).body, []);
});

test('what the API refuses is thrown as what it is', async (context) => {
  const { request, books, close } = await open(context);
  const { id } = await books.add({ title: 'Emma' });
  const wrong = { title: '', pages: 3 };
  await assert.rejects(request('POST', '/api/books', wrong), (thrown: unknown) => {
    const { code, details } = thrown as { code: string; details: { errors: object[] } };
    return code === 'invalid' && details.errors.length === 2;
  });
  await assert.rejects(request('GET', '/api/books/none'), { code: 'not_found' });
  await assert.rejects(
    request('DELETE', `/api/books/${id}`, undefined, { headers: { 'If-Match': '"x"' } }),
    { code: 'precondition_failed' });
  const unknown: string = 'nowhere';
  await assert.rejects(request('GET', `/${unknown}`), { code: 'not_found' });
  await assert.rejects(request('PUT', '/api/books', {}), { code: 'method_not_allowed' });
  await close();
  await assert.rejects(request('GET', '/api/books'), { code: 'unavailable' });
});

test('an answer that is no JSON is text', async (context) => {
  const { request } = await open(context);
  const { body, headers } = await request('GET', '/metrics');
  assert.match(body, /^# HELP /);
  assert.match(String(headers['content-type']), /^text\/plain/);
  assert.equal((await request('GET', '/openapi.json')).body['openapi'], '3.1.0');
});

test('`await using` closes an app', async (context) => {
  let kept: Hookshelf | null = null;
  {
    await using shelf = await open(context);
    kept = shelf;
    await shelf.books.add({ title: 'Emma' });
  }
  await assert.rejects(kept.books.list(), { code: 'unavailable' });
});
