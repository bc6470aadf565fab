import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { ClientShelf } from '../support/client-shelf.ts';
import {
  createCaller, startListening, startServer, stopServer,
} from '../support/server-process.ts';
import { IS_LONG } from '../support/long.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const WRITERS = 32;
const ROUNDS = IS_LONG ? 4 : 2;

const root = createTemporaryFolder();

/** Lets the writers work until their connections are cut; their shelves know what they did. */
async function writeUntilCut(url: string, shelves: readonly ClientShelf[]): Promise<number> {
  const { call, end } = createCaller(url, WRITERS);
  await Promise.all(shelves.map((shelf) => shelf.writeUntilCut(call)));
  end();
  return shelves.reduce((sum, shelf) => sum + shelf.acknowledged, 0);
}

async function checkShelves(url: string, shelves: readonly ClientShelf[]): Promise<void> {
  const { call, end } = createCaller(url, 4);
  const { status, body } = await call('GET', '/api/books');
  end();
  assert.equal(status, 200);
  const books: unknown = JSON.parse(body);
  assert.ok(Array.isArray(books));
  const known = shelves.map((shelf) => shelf.check(books)).reduce((sum, count) => sum + count, 0);
  assert.equal(books.length, known, 'every book is somebody\'s');
}

test(`kill -9 under ${WRITERS} clients that add, change and delete, ${ROUNDS} times, loses nothing`,
  async () => {
    const directory = join(root, 'killed');
    const shelves = Array.from({ length: WRITERS }, (_, writer) => new ClientShelf(writer));
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startListening(directory);
      await checkShelves(server.url, shelves);
      const before = shelves.reduce((sum, shelf) => sum + shelf.acknowledged, 0);
      const writing = writeUntilCut(server.url, shelves);
      await shelves[0]?.waitFor(5 + round * 7);
      await stopServer(server, 'SIGKILL');
      assert.ok(await writing > before, 'something was acknowledged');
    }
    const server = await startListening(directory);
    await checkShelves(server.url, shelves);
    assert.equal((await stopServer(server)).code, 0);
  });

test('of two servers started at once exactly one wins; the other names its pid and exits with 1',
  async () => {
    const directory = join(root, 'raced');
    for (let round = 0; round < (IS_LONG ? 2 : 1); round++) {
      const servers = [startServer(directory), startServer(directory)];
      const urls = await Promise.all(servers.map(({ listening }) => listening));
      assert.equal(urls.filter((url) => url !== null).length, 1, urls.join());
      const [winner, loser] = urls[0] === null ? [servers[1], servers[0]] : servers;
      assert.ok(winner !== undefined && loser !== undefined);
      const { code, errors } = await loser.ended;
      assert.equal(code, 1, errors);
      assert.match(errors, new RegExp(`^hookshelf: .*\\b${winner.pid}\\b.*\n$`));
      assert.equal((await stopServer(winner, 'SIGKILL')).code, null);
    }
  });

test('SIGTERM under load exits with 0, and what was acknowledged is there at the next start',
  async () => {
    const directory = join(root, 'ended');
    const shelves = Array.from({ length: WRITERS }, (_, writer) => new ClientShelf(writer));
    const server = await startListening(directory);
    const writing = writeUntilCut(server.url, shelves);
    await shelves[0]?.waitFor(20);
    const { code, errors } = await stopServer(server);
    assert.equal(code, 0, errors);
    await writing;
    const next = await startListening(directory);
    await checkShelves(next.url, shelves);
    await stopServer(next);
  });

test('SIGTERM while a body is half sent: it is answered when the rest comes, then the server ends',
  async () => {
    const server = await startListening(join(root, 'half'));
    const body = JSON.stringify({ title: 'Half' });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    const closed = new Promise((resolve) => {
      socket.once('close', resolve);
    });
    socket.write(`POST /api/books HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`
      + `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`);
    // The answer to a second client shows that the first one's head has been read.
    const { call, end } = createCaller(server.url, 1);
    await call('GET', '/healthz');
    end();
    server.child.kill('SIGTERM');
    await refusal(Number(new URL(server.url).port));
    socket.write(body.slice(5));
    await closed;
    assert.match(answer, /^HTTP\/1\.1 201 /);
    assert.equal((await server.ended).code, 0);
  });

test('a second SIGTERM ends the server at once, and loses nothing either', async () => {
  const directory = join(root, 'twice');
  const shelves = Array.from({ length: WRITERS }, (_, writer) => new ClientShelf(writer));
  const server = await startListening(directory);
  const port = Number(new URL(server.url).port);
  const writing = writeUntilCut(server.url, shelves);
  // Its request never ends, so a single signal would wait for it.
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST /api/books HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n'
    + 'Content-Type: application/json\r\n\r\n{');
  await shelves[0]?.waitFor(10);
  server.child.kill('SIGTERM');
  await refusal(port);
  const signalledAt = performance.now();
  server.child.kill('SIGTERM');
  await server.ended;
  assert.ok(performance.now() - signalledAt < 5000, 'it did not wait for the open request');
  socket.destroy();
  await writing;
  const next = await startListening(directory);
  await checkShelves(next.url, shelves);
  await stopServer(next);
});

test('on a file system that is really full writers get 507, and service goes on by itself',
  async (context) => {
    const directory = join(root, 'full');
    mkdirSync(directory);
    const options = ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'hookshelf-test', directory];
    if (spawnSync('mount', options).status !== 0) {
      return context.skip('a tmpfs cannot be mounted here');
    }
    try {
      await fillServer(directory);
    } finally {
      spawnSync('umount', [directory]);
    }
  });

async function fillServer(directory: string): Promise<void> {
  const filler = join(directory, 'filler');
  writeFileSync(filler, Buffer.alloc(400_000));
  const server = await startListening(join(directory, 'data'));
  const { call, end } = createCaller(server.url, 4);
  let stored = 0;
  let status = 201;
  for (; status === 201; stored++) {
    ({ status } = await call('POST', '/api/books', { title: 'x'.repeat(stored % 1000 + 1) }));
  }
  stored -= 1;
  assert.equal(status, 507);
  assert.equal((await call('GET', '/readyz')).status, 503);
  assert.equal(countOf((await call('GET', '/api/books')).body), stored);
  rmSync(filler);
  const resumedBy = Date.now() + 3500;
  while ((await call('GET', '/readyz')).status !== 200) assert.ok(Date.now() < resumedBy, '3 s');
  assert.equal((await call('POST', '/api/books', { title: 'after' })).status, 201);
  end();
  await stopServer(server, 'SIGKILL');
  const next = await startListening(join(directory, 'data'));
  const again = createCaller(next.url, 1);
  assert.equal(countOf((await again.call('GET', '/api/books')).body), stored + 1);
  again.end();
  await stopServer(next);
}

function countOf(body: string): number {
  const books: unknown = JSON.parse(body);
  assert.ok(Array.isArray(books));
  return books.length;
}

/** Waits until nothing listens on the port any more. */
async function refusal(port: number): Promise<void> {
  const isRefused = (): Promise<boolean> => new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
  await until('nothing listens any more', isRefused);
}
