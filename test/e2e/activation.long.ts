/** Real servers on sockets that a supervisor has opened: see support/supervisor.ts. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import type { RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { endOf } from '../support/children.ts';
import { openTcpSocket, openUnixSocket, superviseServer } from '../support/supervisor.ts';
import type { SupervisorSocket } from '../support/supervisor.ts';
import { createTemporaryFolder, inFolder } from '../support/temporary-folder.ts';
import { createCertificate } from '../support/tls.ts';
import { until } from '../support/until.ts';
import { addRecord } from './ask.ts';
import { hookshelf, whenListening } from './processes.ts';
import type { Running } from './processes.ts';

const POST = { method: 'POST', headers: { 'content-type': 'application/json' } };
const RESTARTS = 200;
const ANSWERS_BETWEEN_RESTARTS = 30;
/** A server that stops leaves 250 ms to a connection without a request. */
const STANDSTILL_MS = 200;
const TICK_MS = 10;

type Answer = { readonly status: number; readonly text: string; readonly connection: string };

/**
 * One request to a socket of the supervisor; without an agent over a connection of its own. With
 * certificate authorities, `ca`, it is made over TLS.
 */
function call(
  socket: SupervisorSocket, path: string,
  { method = 'GET', headers = {}, agent = false, body = '', ca }: {
    readonly method?: string; readonly headers?: Readonly<Record<string, string>>;
    readonly agent?: Agent | false; readonly body?: string; readonly ca?: string;
  } = {},
): Promise<Answer> {
  const place: RequestOptions = socket.path === ''
    ? { host: '127.0.0.1', port: socket.port } : { socketPath: socket.path };
  return new Promise((resolve, reject) => {
    const options = { ...place, path, method, headers, agent };
    const send = ca === undefined ? request : secureRequest;
    const secure = ca === undefined ? {} : { ca, servername: 'localhost' };
    const sent = send({ ...options, ...secure }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => text += chunk.toString());
      response.on('error', reject);
      response.on('end', () => resolve({
        status: response.statusCode ?? 0, text, connection: response.headers.connection ?? '',
      }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function addLogAction(socket: SupervisorSocket): Promise<void> {
  const body = JSON.stringify({ identifier: 'to-log', actionType: 'log' });
  assert.equal((await call(socket, '/api/action-configurations', { ...POST, body })).status, 201);
}

function supervise(
  sockets: readonly SupervisorSocket[], words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Running> {
  return whenListening(superviseServer(sockets, words, { environment }));
}

test('a server listens on all sockets that it gets, and says so', () =>
  inFolder(async (folder) => {
    const sockets = [openTcpSocket(), openUnixSocket(folder), openTcpSocket()];
    const server = await supervise(sockets, ['--data', join(folder, 'data')]);
    for (const socket of sockets) assert.equal((await call(socket, '/healthz')).status, 200);
    const [first, local, second] = sockets;
    await until('all are announced', () => server.stderr().includes(JSON.stringify([
      `http://127.0.0.1:${first?.port}`, `unix:${local?.path}`, `http://127.0.0.1:${second?.port}`,
    ])));
    const doctor = await hookshelf(['doctor', '--data', join(folder, 'data')]);
    assert.match(doctor.stdout, new RegExp(`our server listens on .* unix:${local?.path}`));
    assert.equal((await server.stop()).code, 0);
    // The supervisor keeps the sockets, so that the next request starts a server.
    const resting = await hookshelf(['doctor', '--data', join(folder, 'data')],
      { environment: { HOOKSHELF_SERVER_PORT: String(first?.port) } });
    assert.match(resting.stdout, /is in use, though .* or a socket unit that starts this one/);
  }));

test('a peer of a unix socket is loopback for Host, and no proxy unless all are trusted', () =>
  inFolder(async (folder) => {
    const socket = openUnixSocket(folder);
    const data = join(folder, 'data');
    const server = await supervise([socket], ['--data', data]);
    const refused = await call(socket, '/api/books', { headers: { host: 'shelf.example' } });
    assert.equal(refused.status, 421, refused.text);
    const admitted = await call(socket, '/api/books', { headers: { host: 'localhost' } });
    assert.equal(admitted.status, 200);
    await addLogAction(socket);
    for (const webhook of [{ pathSegment: 'open' },
      { pathSegment: 'inside', allowedAddresses: ['0.0.0.0/0', '::/0'] }]) {
      const made = await call(socket, '/api/incoming-webhooks', {
        ...POST, body: JSON.stringify({ ...webhook, actionConfiguration: 'to-log' }),
      });
      assert.equal(made.status, 201, made.text);
    }
    const forwarded = { ...POST.headers, 'x-forwarded-for': '192.0.2.7' };
    const options = { ...POST, body: '{}' };
    assert.equal((await call(socket, '/webhook/in/open', options)).status, 200);
    assert.equal((await call(socket, '/webhook/in/inside', options)).status, 403);
    assert.equal((await call(socket, '/webhook/in/inside', { ...options, headers: forwarded }))
      .status, 403);
    await server.stop();
    const picky = await supervise([socket], ['--data', data],
      { HOOKSHELF_SERVER_TRUST_PROXY: '0.0.0.0/0,::/0' });
    assert.equal((await call(socket, '/webhook/in/inside', { ...options, headers: forwarded }))
      .status, 403, 'it has no address that a list could name');
    await picky.stop();
    const trusting = await supervise([socket], ['--data', data],
      { HOOKSHELF_SERVER_TRUST_PROXY: 'true' });
    assert.equal((await call(socket, '/webhook/in/inside', options)).status, 403);
    assert.equal((await call(socket, '/webhook/in/inside', { ...options, headers: forwarded }))
      .status, 200);
    await trusting.stop();
  }));

test('without a token a socket on a network address is refused, and nobody is answered', () =>
  inFolder(async (folder) => {
    const [local, open] = [openTcpSocket(), openTcpSocket('0.0.0.0')];
    const words = ['--data', join(folder, 'data')];
    const refused = await endOf(superviseServer([local, open], words));
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /on 0\.0\.0\.0 anybody could read and change everything/);
    const short = await endOf(superviseServer([open], words,
      { environment: { HOOKSHELF_API_TOKEN: 'short' } }));
    assert.match(short.stderr, /the API token must have at least 16 characters/);
    // What came meanwhile waits for the next process, which has a token.
    const waiting = call(local, '/healthz');
    const server = await supervise([local, open], words, { HOOKSHELF_API_TOKEN: 'a'.repeat(32) });
    assert.equal((await waiting).status, 200);
    assert.equal((await call(open, '/api/books')).status, 401);
    await server.stop();
  }));

test('an address beside the sockets is refused as an option, and has no effect as a setting', () =>
  inFolder(async (folder) => {
    const socket = openTcpSocket();
    const words = ['--data', join(folder, 'data')];
    for (const option of [['--port', '0'], ['--host', '127.0.0.1']]) {
      const { code, stderr } = await endOf(superviseServer([socket], [...words, ...option]));
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`${option[0]} beside sockets of a supervisor`));
    }
    const server = await supervise([socket], words,
      { HOOKSHELF_SERVER_PORT: '1', HOOKSHELF_SERVER_HOST: '0.0.0.0' });
    assert.equal((await call(socket, '/healthz')).status, 200);
    assert.match(server.stderr(), /server\.port \(from HOOKSHELF_SERVER_PORT\) has no effect/);
    await server.stop();
  }));

test('sockets of another process are left alone', () => inFolder(async (folder) => {
  const socket = openTcpSocket();
  const words = ['--port', '0', '--data', join(folder, 'data')];
  const server = await whenListening(superviseServer([socket], words, { pid: '1' }));
  assert.notEqual(new URL(server.url).port, String(socket.port));
  await assert.rejects(call(socket, '/healthz'), { code: 'ECONNREFUSED' });
  await server.stop();
}));

test('what is no socket to listen on is refused, with what its unit needs', () =>
  inFolder(async (folder) => {
    const words = ['--data', join(folder, 'data')];
    const file = { descriptor: 0, port: 0, path: '' };
    const { code, stderr } = await endOf(superviseServer([file], words));
    assert.equal(code, 2);
    assert.match(stderr, /descriptor 3 \(socket-0\).* needs ListenStream= and Accept=no/);
  }));

test('sockets speak TLS once there is a certificate, which SIGHUP renews on all', () =>
  inFolder(async (folder) => {
    const certificates = [createCertificate(), createCertificate()] as const;
    const install = ({ cert, key }: { readonly cert: string; readonly key: string }): void => {
      writeFileSync(join(folder, 'cert.pem'), cert);
      writeFileSync(join(folder, 'key.pem'), key);
    };
    install(certificates[0]);
    const sockets = [openTcpSocket(), openTcpSocket(), openUnixSocket(folder)];
    const server = await supervise(sockets, ['--data', join(folder, 'data')], {
      HOOKSHELF_SERVER_TLS_CERT: join(folder, 'cert.pem'),
      HOOKSHELF_SERVER_TLS_KEY: join(folder, 'key.pem'),
    });
    const askAll = async (ca: string): Promise<void> => {
      for (const socket of sockets) {
        assert.equal((await call(socket, '/api/books', { ca })).status, 200);
        await assert.rejects(call(socket, '/healthz'), 'without TLS nothing is answered');
      }
    };
    await askAll(certificates[0].cert);
    await assert.rejects(askAll(certificates[1].cert), { code: /SELF_SIGNED|UNABLE/ });
    install(certificates[1]);
    server.child.kill('SIGHUP');
    await until('it is read', () => server.stderr().includes('the certificate was read again'));
    await askAll(certificates[1].cert);
    await server.stop();
  }));

test('commands of hooks see neither the sockets nor their variables', async () => {
  const folder = createTemporaryFolder();
  chmodSync(folder, 0o755);
  const commands = join(folder, 'hooks');
  mkdirSync(commands, { mode: 0o755 });
  writeFileSync(join(commands, 'look.sh'), '#!/bin/sh\nenv\nls -l /proc/self/fd\n');
  chmodSync(join(commands, 'look.sh'), 0o755);
  const socket = openTcpSocket();
  for (const memory of [[], ['--max-memory', '128']]) {
    const server = await supervise([socket], ['--data', join(folder, 'data'), ...memory],
      { HOOKSHELF_ACTIONS_COMMAND_DIRECTORY: commands });
    const url = `http://127.0.0.1:${socket.port}`;
    if (memory.length === 0) {
      await addRecord(`${url}/api/action-configurations`, {
        identifier: 'look', actionType: 'run-command',
        options: { command: 'look.sh', output: 'result' },
      });
      await addRecord(`${url}/api/incoming-webhooks`,
        { pathSegment: 'look', actionConfiguration: 'look' });
    }
    const { status, text } = await call(socket, '/webhook/in/look', { ...POST, body: '{}' });
    assert.equal(status, 200, text);
    assert.match(text, /PATH=/);
    assert.doesNotMatch(text, /LISTEN_|socket:/);
    await server.stop();
  }
});

/**
 * Clients that send requests, one after another, until they are told to stop. When this process
 * stands still for as long as a server waits for them, as on a busy machine, a request may be lost.
 */
class Load {
  /** Requests that were not answered with 200. */
  readonly problems: string[] = [];
  answeredCount = 0;
  #isOver = false;
  #lastTickMs = performance.now();
  #lastStandstillMs = -Infinity;
  readonly #ticking = setInterval(() => {
    const nowMs = performance.now();
    if (nowMs - this.#lastTickMs > STANDSTILL_MS) this.#lastStandstillMs = nowMs;
    this.#lastTickMs = nowMs;
  }, TICK_MS).unref();
  readonly #clients: readonly Promise<void>[];

  constructor(clients: readonly (() => Promise<Answer>)[]) {
    this.#clients = clients.map((send) => this.#run(send));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    clearInterval(this.#ticking);
  }

  async #run(send: () => Promise<Answer>): Promise<void> {
    while (!this.#isOver) {
      try {
        const { status, text } = await send();
        if (status !== 200) this.problems.push(`${status} ${text}`);
      } catch (error) {
        const hasStoodStill = performance.now() - this.#lastStandstillMs < STANDSTILL_MS;
        if (!hasStoodStill) this.problems.push(String(error));
      }
      this.answeredCount += 1;
    }
  }
}

test('restarts under load refuse no connection and lose no request', async () => {
  const folder = createTemporaryFolder();
  const words = ['--data', join(folder, 'data')];
  const web = openTcpSocket();
  const sockets = [web, openUnixSocket(folder)];
  let server = await supervise(sockets, words);
  await addLogAction(web);
  await addRecord(`http://127.0.0.1:${web.port}/api/incoming-webhooks`,
    { pathSegment: 'load', actionConfiguration: 'to-log' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const load = new Load(sockets.flatMap((socket) => [
    () => call(socket, '/webhook/in/load', { ...POST, body: '{"a":1}' }),
    () => call(socket, '/api/books'),
    () => call(socket, '/webhook/in/load', { ...POST, body: '{"a":1}', agent }),
  ]));
  for (let restart = 0; restart < RESTARTS && load.problems.length === 0; restart += 1) {
    const enough = load.answeredCount + ANSWERS_BETWEEN_RESTARTS;
    await until('it serves', () => load.answeredCount >= enough);
    const { code, stderr } = await server.stop();
    assert.equal(code, 0, stderr);
    server = await supervise(sockets, words);
  }
  await load.stop();
  agent.destroy();
  await server.stop();
  assert.deepEqual(load.problems, []);
});

test('a connection that is idle ends with the server, which waits for no more', () =>
  inFolder(async (folder) => {
    const socket = openTcpSocket();
    const server = await supervise([socket], ['--data', join(folder, 'data')]);
    const idle = connect(socket.port, '127.0.0.1');
    let received = '';
    idle.on('data', (chunk: Buffer) => received += chunk.toString());
    idle.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until('it is answered', () => received.includes('200 OK'));
    const closed = new Promise((resolve) => idle.once('close', resolve));
    const { code } = await server.stop();
    await closed;
    assert.equal(code, 0);
  }));
