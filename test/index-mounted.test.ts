/**
 * The handler in a server of somebody else, behind what frameworks do to requests: a body parser
 * has read the body, a router has taken the beginning off the path.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { Hookshelf } from '../src/index.ts';
import { addRecord, ask } from './e2e/ask.ts';
import { openHookshelf, serveHandler } from './support/embedded.ts';

type Place = { readonly shelf: Hookshelf; readonly url: string; readonly logged: string[] };

async function mount(
  context: TestContext, wrap: (handler: RequestListener) => RequestListener, server: object = {},
): Promise<Place> {
  const logged: string[] = [];
  const note = (message: string): void => {
    logged.push(message);
  };
  const logger = { debug: note, info: note, warning: note, error: note };
  const shelf = await openHookshelf(context, { logger, settings: { server } });
  const { url } = await serveHandler(context, wrap(shelf.handler));
  // The start tells of the new data directory.
  logged.length = 0;
  return { shelf, logged, url };
}

/** Reads the body and leaves `keep`'s members on the request. */
function reading(keep: (bytes: Buffer, request: IncomingMessage) => object) {
  return (handler: RequestListener): RequestListener => async (request, response) => {
    const bytes = Buffer.concat(await request.toArray());
    Object.assign(request, bytes.length === 0 ? {} : keep(bytes, request));
    handler(request, response);
  };
}

/** As `express.json()` does. */
const parsing = reading((bytes, { headers }) =>
  /[/+]json$/.test(headers['content-type'] ?? '') ? { body: JSON.parse(bytes.toString()) } : {});
/** As a router that serves us below `/shelf` does. */
const below = (name: 'baseUrl' | 'originalUrl') => (handler: RequestListener): RequestListener =>
  (request, response) => {
    const { url = '' } = request;
    const [, base = '', rest = ''] = /^(\/shelf)(\/.*)$/.exec(url) ?? [];
    const members = name === 'baseUrl' ? { baseUrl: base, originalUrl: url } : { originalUrl: url };
    Object.assign(request, { ...members, url: rest });
    handler(request, response);
  };

const DEEP = JSON.parse(`{"title":"Emma","metadata":${'{"a":'.repeat(70)}1${'}'.repeat(71)}`);

test('behind a parser of JSON the API works with what it parsed', async (context) => {
  const { shelf, url } = await mount(context, parsing);
  const send = async (method: string, path: string, body?: object) => {
    const { status, text } = await ask(url + path, { method, ...body && { body } });
    return [status, text === '' ? null : JSON.parse(text)] as const;
  };
  const [added, book] = await send('POST', '/api/books', { title: 'Emma' });
  assert.deepEqual([added, book.title], [201, 'Emma']);
  const path = `/api/books/${book.id}`;
  assert.equal((await send('PUT', path, { title: 'Persuasion' }))[1].title, 'Persuasion');
  assert.equal((await send('PATCH', path, { subtitle: 'A novel' }))[1].subtitle, 'A novel');
  assert.deepEqual((await send('POST', '/api/books', { titel: 'x' }))[1].errors.length, 2);
  assert.equal((await send('POST', '/api/books', []))[0], 422);
  assert.equal((await send('POST', '/api/books', DEEP))[0], 400);
  assert.equal((await send('POST', '/api/events', { name: 'x', payload: [1] }))[0], 202);
  assert.equal((await send('POST', '/api/events', { name: 'x', payload: null }))[0], 202);
  assert.equal((await send('POST', '/api/events', { name: 'x y*' }))[0], 422);
  assert.equal((await send('POST', '/api/deliveries/retry'))[0], 202);
  assert.equal((await shelf.books.list()).total, 1);
});

test('what a parser gives and JSON cannot hold is refused, and said', async (context) => {
  const { url, logged } = await mount(context, reading(() => ({ body: { numberOfPages: 3n } })));
  const { status, text } = await ask(`${url}/api/books`, { method: 'POST', body: { title: 'E' } });
  assert.equal(status, 422);
  assert.match(JSON.parse(text).detail, /must be what JSON can hold .*BigInt/);
  assert.deepEqual(logged, []);
});

test('where the bytes of a body are needed, the answer and the log say what to do',
  async (context) => {
    const { url, logged } = await mount(context, parsing);
    await addHook(url);
    const advice = /had been read .* in front of whatever parses bodies/;
    const lines = { 'content-type': 'application/jsonl' };
    const text = { 'content-type': 'text/plain' };
    for (const [path, headers, status] of [
      ['/webhook/in/in', {}, 500], ['/webhook/in/in', text, 500],
      ['/api/books/import', lines, 500], ['/api/books', text, 415],
    ] as const) {
      const reply = await ask(url + path, { method: 'POST', headers, body: { title: 'Emma' } });
      assert.equal(reply.status, status, path);
      if (status !== 500) continue;
      assert.match(reply.text, advice);
      assert.match(logged.splice(0).join('\n'), advice);
    }
  });

test('a body of which nothing is left is told, not waited for', async (context) => {
  const { url, shelf, logged } = await mount(context, reading(() => ({})));
  const { status, text } = await ask(`${url}/api/books`, { method: 'POST', body: { title: 'E' } });
  assert.equal(status, 500);
  assert.equal(JSON.parse(text).type, 'urn:hookshelf:problem:misconfigured');
  assert.match(logged.join('\n'), /had been read/);
  assert.equal((await shelf.books.list()).total, 0);
});

test('bytes that a parser has kept are as good as unread ones', async (context) => {
  for (const name of ['body', 'rawBody']) {
    const keep = (bytes: Buffer) =>
      ({ ...name === 'rawBody' && { body: JSON.parse(bytes.toString()) }, [name]: bytes });
    const { url, shelf } = await mount(context, reading(keep), { maxBodyBytes: 300 });
    await addHook(url);
    // Not as JSON.stringify writes it.
    const body = '{ "n": 1.0 }';
    const signature = `sha256=${createHmac('sha256', 's3cret').update(body).digest('hex')}`;
    const sent = { method: 'POST', headers: { 'x-signature': signature }, raw: body };
    assert.equal((await ask(`${url}/webhook/in/in`, sent)).status, 200);
    assert.equal((await ask(`${url}/webhook/in/in`, { ...sent, raw: '{"n":1}' })).status, 401);
    const zipped = { ...sent, headers: { ...sent.headers, 'content-encoding': 'gzip' } };
    assert.equal((await ask(`${url}/webhook/in/in`, zipped)).status, 500);
    const large = { title: 'x'.repeat(300) };
    assert.equal((await ask(`${url}/api/books`, { method: 'POST', body: large })).status, 413);
    assert.equal((await ask(`${url}/api/books`, { method: 'POST', body: { title: 'E' } })).status,
      201);
    assert.equal((await shelf.books.list()).total, 1);
  }
});

test('links begin with the path that a framework has taken off, or with server.baseUri',
  async (context) => {
    const cases = [
      [below('baseUrl'), {}, '/shelf'], [below('originalUrl'), {}, '/shelf'],
      [below('baseUrl'), { baseUri: 'https://x.example/y' }, 'https://x.example/y'],
    ] as const;
    for (const [wrap, settings, base] of cases) {
      const { url } = await mount(context, wrap, settings);
      const books = `${url}/shelf/api/books`;
      for (const title of ['Emma', 'Persuasion']) {
        const { headers } = await ask(books, { method: 'POST', body: { title } });
        assert.match(String(headers.location), new RegExp(`^${base}/api/books/[0-9a-f-]+$`));
      }
      const { headers } = await ask(`${books}?limit=1`);
      assert.ok(String(headers['link']).startsWith(`<${base}/api/books?`), String(headers['link']));
      const { links } = JSON.parse((await ask(`${url}/shelf/`)).text);
      assert.deepEqual([links.books, links.documentation], [`${base}/api/books`, `${base}/docs`]);
      const { text } = await ask(`${url}/shelf/docs`);
      const isAbsolute = base.startsWith('https');
      assert.match(text, isAbsolute ? /href="https:\/\/x.example\/y\/openapi.json"/
        : /href="\/shelf\/openapi.json"/);
      assert.ok(text.includes(`${isAbsolute ? base : url + base}/api/books`));
    }
  });

async function addHook(url: string): Promise<void> {
  await addRecord(`${url}/api/action-configurations`, { identifier: 'log', actionType: 'log' });
  await addRecord(`${url}/api/incoming-webhooks`,
    { pathSegment: 'in', actionConfiguration: 'log', secret: 's3cret' });
}
