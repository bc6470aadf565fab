import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { AppError } from '../../../src/base/errors.ts';
import { openApiClient } from '../../../src/cli/api-client/open-api-client.ts';
import type { LocalApp, DirectoryOwner } from '../../../src/cli/api-client/local-app.ts';
import type { ApiClient } from '../../../src/cli/api-client/api-client.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

/** Says what came, or fails as the path asks. */
const echo: RequestListener = (request, response) => {
  if (request.url === '/slow') {
    // Answers each line before the next has come: a sender that waits for its end would hang.
    response.writeHead(200);
    request.on('data', (chunk: Buffer) => response.write(`got ${chunk.toString()}`));
    request.on('end', () => response.end());
    return;
  }
  if (request.url === '/problem') {
    response.writeHead(422, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({
      type: 'urn:hookshelf:problem:invalid', status: 422, detail: 'the book is not valid',
      errors: [{ pointer: '/title', detail: 'is required' }, { pointer: '', detail: 'is odd' }],
    }));
    return;
  }
  if (request.url === '/cut') {
    response.writeHead(200, { 'content-length': '10' });
    response.write('{', () => response.destroy());
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(request.method === 'DELETE' ? 204 : 200);
    const { method, url } = request;
    const body = Buffer.concat(chunks).toString();
    response.end(method === 'DELETE' ? undefined
      : JSON.stringify({ method, url, type: request.headers['content-type'], body }));
  });
};

const app = (listener: RequestListener, onClose = (): void => {}): LocalApp => ({
  requestListener: listener,
  close: async () => onClose(),
});

async function withSession(
  isRemote: boolean, use: (session: ApiClient) => Promise<void>,
): Promise<void> {
  const folder = createTemporaryFolder();
  const socketPath = join(folder, 'control.sock');
  const server = createServer(echo);
  if (isRemote) await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const owner: DirectoryOwner | null = isRemote ? { pid: 1, socketPath } : null;
  const session = await openApiClient({
    clock: systemClock, findOwner: () => owner, openLocalApp: async () => app(echo),
  });
  try {
    assert.equal(session.hasServer, isRemote);
    await use(session);
  } finally {
    await session.close();
    server.close();
  }
}

for (const isRemote of [true, false]) {
  const way = isRemote ? 'through the socket' : 'in process';

  test(`requests carry method, path and body ${way}`, () =>
    withSession(isRemote, async (session) => {
      const body = { title: 'Emma' };
      const answer = await session.request({ method: 'POST', path: '/api/books?a=b', body });
      assert.deepEqual(answer.body, {
        method: 'POST', url: '/api/books?a=b', type: 'application/json', body: '{"title":"Emma"}',
      });
      const raw = await session.request({ method: 'PUT', path: '/', body: Buffer.from('{ }') });
      assert.equal(Reflect.get(Object(raw.body), 'body'), '{ }');
      const gone = await session.request({ method: 'DELETE', path: '/' });
      assert.deepEqual([gone.status, gone.body], [204, null]);
    }));

  test(`problems become errors with every field ${way}`, () => withSession(isRemote, (session) =>
    assert.rejects(session.request({ method: 'GET', path: '/problem' }), (thrown: unknown) => {
      assert.ok(thrown instanceof AppError);
      assert.equal(thrown.code, 'invalid');
      assert.equal(thrown.message, '/title: is required; is odd');
      return true;
    })));

  test(`an answer that breaks off is an error ${way}`, () => withSession(isRemote, (session) =>
    assert.rejects(session.request({ method: 'GET', path: '/cut' }), /connection .* broke/)));

  test(`a body streams out while its answer streams in ${way}`, () =>
    withSession(isRemote, async (session) => {
      const answered: string[] = [];
      const answers = new EventEmitter();
      async function* lines(): AsyncGenerator<Buffer> {
        for (const line of ['a\n', 'b\n', 'c\n']) {
          yield Buffer.from(line);
          await once(answers, 'answer');
        }
      }
      const body = Readable.from(lines(), { objectMode: false });
      const response = await session.stream({ method: 'POST', path: '/slow', body });
      for await (const chunk of response) {
        answered.push(String(chunk));
        answers.emit('answer');
      }
      assert.deepEqual(answered.join(''), 'got a\ngot b\ngot c\n');
    }));

  test(`large bodies pass whole both ways ${way}`, () => withSession(isRemote, async (session) => {
    const body = { text: 'x'.repeat(3_000_000) };
    const answer = await session.request({ method: 'POST', path: '/', body });
    assert.equal(Reflect.get(Object(answer.body), 'body'), JSON.stringify(body));
  }));
}

/** Time that passes only while somebody sleeps. */
function simulatedClock(): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    startTimer(delayMs, run) {
      nowMs += delayMs;
      setImmediate(run);
      return { cancel() {} };
    },
  };
}

test('waits for a directory that another command holds', async () => {
  let attempts = 0;
  let closed = 0;
  const session = await openApiClient({
    clock: simulatedClock(),
    findOwner: () => ({ pid: 1, socketPath: null }),
    async openLocalApp() {
      attempts += 1;
      if (attempts < 10) throw new AppError('conflict', 'held by pid 1');
      return app(echo, () => {
        closed += 1;
      });
    },
  });
  assert.equal((await session.request({ method: 'GET', path: '/' })).status, 200);
  await session.close();
  await session.close();
  assert.deepEqual([attempts, closed], [10, 1]);
});

test('names the holder after fifteen seconds', async () => {
  const clock = simulatedClock();
  const opening = openApiClient({
    clock, findOwner: () => ({ pid: 7, socketPath: '/nowhere/control.sock' }),
    openLocalApp: () => Promise.reject(new AppError('conflict', 'held by pid 7')),
  });
  await assert.rejects(opening, /held by pid 7/);
  assert.ok(clock.now() >= 15_000 && clock.now() < 16_000);
});

test('does not wait where data is damaged', async () => {
  const clock = simulatedClock();
  const opening = openApiClient({
    clock, findOwner: () => null,
    openLocalApp: () => Promise.reject(new AppError('damaged', 'line 3 is damaged')),
  });
  await assert.rejects(opening, /line 3 is damaged/);
  assert.equal(clock.now(), 0);
});
