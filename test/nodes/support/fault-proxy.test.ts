/** The proxy does to a connection what it is told, and nothing else. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import { EtcdCommits, PostgresCommits } from './commit-reader.ts';
import { FaultProxy } from './fault-proxy.ts';

type Echo = { readonly server: Server; readonly port: number; received: string };

/** Sends back what it gets, in capitals. */
async function startEcho(): Promise<Echo> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      echo.received += chunk.toString('latin1');
      socket.write(chunk.toString('latin1').toUpperCase(), 'latin1');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  const echo: Echo = { server, port: address.port, received: '' };
  return echo;
}

type Client = { readonly socket: Socket; received: string; isClosed: boolean };

function dial(port: number): Client {
  const socket = connect({ port, host: '127.0.0.1' });
  const client: Client = { socket, received: '', isClosed: false };
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => void (client.received += chunk.toString('latin1')));
  socket.on('close', () => void (client.isClosed = true));
  return client;
}

async function withProxy(
  use: (proxy: FaultProxy, echo: Echo) => Promise<void>, commits = (): EtcdCommits =>
    new EtcdCommits(),
): Promise<void> {
  const echo = await startEcho();
  const proxy = await FaultProxy.start({ target: () => echo.port, commits });
  try {
    await use(proxy, echo);
  } finally {
    await proxy.close();
    echo.server.close();
  }
}

test('it passes on what it gets, both ways', () => withProxy(async (proxy) => {
  const client = dial(proxy.port);
  client.socket.write('hello');
  await until('the answer', () => client.received === 'HELLO');
  client.socket.end();
  await until('the end', () => client.isClosed && proxy.connections === 0);
}));

test('what is held goes on in order when it heals', () => withProxy(async (proxy, echo) => {
  const client = dial(proxy.port);
  client.socket.write('a');
  await until('the answer', () => client.received === 'A');
  proxy.hold('toClient');
  client.socket.write('b');
  await until('the server to get it', () => echo.received === 'ab');
  assert.equal(client.received, 'A');
  proxy.hold('toServer');
  client.socket.write('c');
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(echo.received, 'ab');
  proxy.heal();
  await until('all answers', () => client.received === 'ABC');
}));

test('after the text that it waits for, everything is held', () => withProxy(
  async (proxy, echo) => {
    const client = dial(proxy.port);
    const held = proxy.holdAfter('last');
    client.socket.write('first');
    await until('the answer to the first', () => client.received === 'FIRST');
    client.socket.write('the last');
    await held;
    await until('the last has come through', () => echo.received === 'firstthe last');
    client.socket.write('more');
    await delay(50);
    assert.deepEqual([echo.received, client.received], ['firstthe last', 'FIRST']);
    proxy.heal();
    await until('the rest', () => client.received === 'FIRSTTHE LASTMORE');
    client.socket.destroy();
  }));

test('it can be made to lead to another server, and back', () => withProxy(async (proxy, echo) => {
  const other = await startEcho();
  const ask = async (port: number | null): Promise<void> => {
    const client = dial(proxy.port);
    client.socket.write('x');
    await until('the answer', () => client.received === 'X');
    proxy.mislead(port);
    await until('who was there is told', () => client.isClosed);
  };
  await ask(other.port);
  await ask(null);
  await ask(null);
  assert.deepEqual([echo.received, other.received], ['xx', 'x']);
  other.server.close();
}));

test('who is refused or reset is told at once, and served after it healed', () =>
  withProxy(async (proxy) => {
    const before = dial(proxy.port);
    before.socket.write('a');
    await until('the answer', () => before.received === 'A');
    proxy.refuse();
    const during = dial(proxy.port);
    await until('both ends', () => before.isClosed && during.isClosed);
    proxy.heal();
    const after = dial(proxy.port);
    after.socket.write('b');
    await until('the answer', () => after.received === 'B');
    after.socket.destroy();
  }));

const TXN = 'POST /v3/kv/txn HTTP/1.1\r\nContent-Length: 4\r\n\r\n';

for (const moment of ['sent', 'answered'] as const) {
  test(`a commit is cut once it was ${moment}, and no other`, () =>
    withProxy(async (proxy, echo) => {
      const client = dial(proxy.port);
      client.socket.write('POST /v3/kv/range HTTP/1.1\r\nContent-Length: 0\r\n\r\n');
      await until('the answer', () => client.received.endsWith('\r\n\r\n'));
      const { length } = client.received;
      const sprung = proxy.cutNextCommit(moment);
      client.socket.write(`${TXN}bo`);
      await until('the first part', () => echo.received.endsWith('bo'));
      assert.ok(!client.isClosed);
      client.socket.write('dy');
      await sprung;
      await until('the end', () => client.isClosed && echo.received.endsWith('body'));
      assert.ok(!client.received.slice(length).endsWith('DY'), client.received);
      const next = dial(proxy.port);
      next.socket.write(`${TXN}body`);
      await until('the answer', () => next.received.endsWith('BODY'));
      next.socket.destroy();
    }));
}

const START = message('', '\0\u0003\0\0user\0x\0\0');
const APPEND = 'with h as (update hookshelf.head set sequence=$3 where sequence=$1) select 1';

/** What is sent after the start, in PostgreSQL's messages, and whether it commits. */
const SENT: readonly (readonly [string, readonly Buffer[], boolean])[] = [
  ['a query', [message('Q', 'select 1\0')], false],
  ['COMMIT', [message('Q', 'BEGIN\0'), message('Q', 'COMMIT\0')], true],
  ['an update in an open transaction', [message('Q', 'begin\0'), message('Q', `${APPEND}\0`)],
    false],
  ['an append', [message('P', `s1\0${APPEND}\0\0\0`), message('B', '\0s1\0\0\0'),
    message('E', '\0\0\0\0\0'), message('S', '')], true],
  ['an append without its end', [message('P', `s1\0${APPEND}\0\0\0`), message('B', '\0s1\0\0\0')],
    false],
  ['another statement by its name', [message('P', `s1\0${APPEND}\0\0\0`),
    message('P', 's2\0select 1\0\0\0'), message('B', '\0s2\0\0\0'), message('S', '')], false],
];

for (const [name, messages, isCommit] of SENT) {
  test(`PostgreSQL: ${name} is ${isCommit ? 'a' : 'no'} commit, however it is cut up`, () => {
    const bytes = Buffer.concat([START, ...messages]);
    for (const size of [1, 7, bytes.length]) {
      const reader = new PostgresCommits();
      let isFound = false;
      for (let from = 0; from < bytes.length; from += size) {
        isFound = reader.push(bytes.subarray(from, from + size)) || isFound;
      }
      assert.equal(isFound, isCommit, `in pieces of ${size}`);
    }
  });
}

function message(type: string, content: string): Buffer {
  const bytes = Buffer.from(content, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length + 4);
  return Buffer.concat([Buffer.from(type), length, bytes]);
}

test('it keeps when it let nothing through, and when it ended connections', () =>
  withProxy(async (proxy) => {
    const client = dial(proxy.port);
    client.socket.write('a');
    await until('the answer', () => client.received === 'A');
    assert.equal(proxy.outages.length, 0);
    proxy.hold('toClient');
    const [open] = proxy.outages;
    client.socket.write('b');
    await until('some time', () => (proxy.outages[0]?.endMs ?? 0) > (open?.endMs ?? Infinity));
    proxy.heal();
    const [held, ...none] = proxy.outages;
    assert.deepEqual(none, []);
    assert.equal(held?.beginMs, open?.beginMs);
    proxy.reset();
    await until('the reset', () => client.isClosed);
    const [first, reset, ...others] = proxy.outages;
    assert.deepEqual([first, others], [held, []]);
    assert.ok(reset !== undefined && reset.beginMs === reset.endMs);
  }));
