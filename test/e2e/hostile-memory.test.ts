/** What strangers send does not end a server that was given little memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { PROGRAM } from '../support/program.ts';
import { RawConnection, encodeRequest } from '../support/raw-http.ts';
import { ask } from './ask.ts';
import { inFolder, startServer, type Running } from './processes.ts';

const MEGABYTES = 64;
const TIMEOUT = { timeout: 120_000 };

/** A server with an open webhook that runs this action, and ten that want a signature. */
async function serveWebhooks(data: string, action: object): Promise<Running> {
  const server = await startServer(['--data', data, '--max-memory', String(MEGABYTES)], {
    program: [process.execPath, PROGRAM],
  });
  const make = async (path: string, body: object): Promise<void> => {
    const made = await ask(`${server.url}/api/${path}`, { method: 'POST', body });
    assert.equal(made.status, 201, made.text);
  };
  await make('action-configurations', { identifier: 'action', ...action });
  const hook = { actionConfiguration: 'action', inbox: 'off' };
  await make('incoming-webhooks', { ...hook, pathSegment: 'open' });
  for (let index = 0; index < 10; index += 1) {
    await make('incoming-webhooks', { ...hook, pathSegment: `signed${index}`, secret: 'planted' });
  }
  return server;
}

async function hangingTarget(context: TestContext): Promise<string> {
  const target = createServer((socket) => socket.on('error', () => {}).resume());
  context.after(() => target.close());
  await once(target.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
}

test('bodies that grow twentyfold when they are parsed are taken as far as there is room', TIMEOUT,
  (context) => inFolder(async (data) => {
    const url = await hangingTarget(context);
    const server = await serveWebhooks(data, { actionType: 'http-forward', options: { url } });
    const raw = `[${'{},'.repeat(340_000)}{}]`;
    const answers = Array.from({ length: 30 }, () =>
      ask(`${server.url}/webhook/in/open`, { method: 'POST', raw }));
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    assert.ok(statuses.includes(400), 'none was taken');
    assert.deepEqual(statuses.filter((status) => status !== 400 && status !== 503), []);
    assert.equal((await server.stop()).code, 0);
  }));

test('a flood of rejected requests with a thousand headers each leaves room to serve', TIMEOUT,
  () => inFolder(async (data) => {
    const server = await serveWebhooks(data, { actionType: 'log' });
    const headers = Object.fromEntries(
      Array.from({ length: 1300 }, (_, index) => [`k${index.toString(36)}`, 'b']));
    const connection = new RawConnection({ port: Number(new URL(server.url).port) });
    for (let index = 0; index < 1000; index += 1) {
      connection.send(encodeRequest('POST', `/webhook/in/signed${index % 10}`, headers, '{}'));
      assert.equal((await connection.answer()).status, 401);
    }
    connection.close();
    assert.equal((await ask(`${server.url}/api/requests?status=rejected`)).status, 200);
    assert.equal((await server.stop()).code, 0);
  }));
