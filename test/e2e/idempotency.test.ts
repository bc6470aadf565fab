/** Real processes: a request with an `Idempotency-Key` takes effect once, whatever is killed. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { openAppServer, withAppServer } from '../support/app-server.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask, type Reply } from './ask.ts';
import { startServer } from './processes.ts';
import { longTest } from '../support/long.ts';

const TITLE = 'Once Only';
const BOOK = JSON.stringify({ title: TITLE, authors: [{ name: 'A' }] });

function add(url: string, key: string): Promise<Reply> {
  return ask(`${url}/api/books`, {
    method: 'POST', raw: BOOK, headers: { 'idempotency-key': key },
  });
}

/** Sends the request and never reads what comes. */
function sendUnheard(url: string, key: string): () => void {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write(`POST /api/books HTTP/1.1\r\nHost: ${hostname}:${port}\r\n`
    + `Idempotency-Key: ${key}\r\nContent-Type: application/json\r\n`
    + `Content-Length: ${BOOK.length}\r\n\r\n${BOOK}`);
  return () => void socket.destroy();
}

function booksInJournal(data: string): number {
  const journals = readdirSync(data).filter((name) => name.startsWith('journal-'));
  return journals.map((name) => readFileSync(join(data, name), 'utf8')).join('')
    .split(`"title":"${TITLE}","authors"`).length - 1;
}

test('a retry replays what was committed before kill -9 and never answered', () =>
  inFolder(async (data) => {
    let server = await startServer(['--data', data]);
    try {
      const end = sendUnheard(server.url, 'cut');
      await until('the book to be written', () => booksInJournal(data) > 0);
      await server.stop('SIGKILL');
      end();
      server = await startServer(['--data', data]);
      const retry = await add(server.url, 'cut');
      assert.deepEqual([retry.status, retry.headers['idempotency-replayed']], [201, 'true']);
      const books = JSON.parse((await ask(`${server.url}/api/books`)).text);
      assert.deepEqual(books.map(({ id }: { id: string }) => id), [JSON.parse(retry.text).id]);
      assert.equal(retry.headers.location, `/api/books/${books[0].id}`);
    } finally {
      await server.stop('SIGKILL');
    }
  }));

longTest('every key adds one book, though the server is killed at any moment', () =>
  inFolder(async (data) => {
    const keys = ['a', 'b', 'c', 'd'];
    let server = await startServer(['--data', data]);
    try {
      for (const [round, key] of keys.entries()) {
        const end = sendUnheard(server.url, key);
        await new Promise((resolve) => setTimeout(resolve, round));
        await server.stop('SIGKILL');
        end();
        server = await startServer(['--data', data]);
        assert.equal((await add(server.url, key)).status, 201);
        assert.equal((await add(server.url, key)).headers['idempotency-replayed'], 'true');
      }
      const books = JSON.parse((await ask(`${server.url}/api/books`)).text);
      assert.equal(books.length, keys.length);
    } finally {
      await server.stop('SIGKILL');
    }
  }));

test('an event is emitted once for its key', () => withAppServer(async ({ url }) => {
  const post = (path: string, body: unknown, headers = {}): Promise<Reply> =>
    ask(`${url}${path}`, { method: 'POST', body, headers });
  await post('/api/outgoing-webhooks', {
    targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'order.paid',
  });
  const key = { 'idempotency-key': 'order 7' };
  const event = { name: 'order.paid', payload: { order: 7 } };
  const first = await post('/api/events', event, key);
  const again = await post('/api/events', event, key);
  assert.deepEqual([first.status, again.status], [202, 202]);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal(again.text, first.text);
  assert.equal(JSON.parse(first.text).deliveries.length, 1);
  const deliveries = JSON.parse((await ask(`${url}/api/deliveries`)).text);
  assert.equal(deliveries.length, 1);
  const other = { ...event, payload: { order: 8 } };
  assert.equal((await post('/api/events', other, key)).status, 422);
  assert.equal((await post('/api/books', JSON.parse(BOOK), key)).status, 201);
}));

test('a bulk replay is asked for once with its key', () => inFolder(async (data) => {
  let server = await openAppServer(data);
  const replay = (body: object): Promise<Reply> => ask(`${server.url}/api/requests/replay`, {
    method: 'POST', body, headers: { 'idempotency-key': 'once' },
  });
  try {
    const first = await replay({ status: 'failed' });
    await server.close();
    server = await openAppServer(data);
    const again = await replay({ status: 'failed' });
    assert.deepEqual([first.status, again.status], [202, 202]);
    assert.equal(again.headers['idempotency-replayed'], 'true');
    assert.deepEqual([again.text, again.headers.location], [first.text, first.headers.location]);
    const jobs = JSON.parse((await ask(`${server.url}/api/jobs`)).text);
    assert.equal(jobs.length, 1);
    assert.equal((await replay({ status: 'done' })).status, 422);
    assert.equal((await replay({ status: 'failed', dryRun: true })).status, 422);
  } finally {
    await server.close();
  }
}));

test('a dry run gives its first answer again', () => withAppServer(async ({ url }) => {
  const count = (): Promise<Reply> => ask(`${url}/api/deliveries/resend`, {
    method: 'POST', body: { dryRun: true }, headers: { 'idempotency-key': 'count' },
  });
  assert.deepEqual([(await count()).text, (await count()).text], ['{"count":0}', '{"count":0}']);
  assert.equal((await count()).headers['idempotency-replayed'], 'true');
}));
