import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../support/until.ts';
import { ClientShelf, createCaller } from '../support/client-shelf.ts';
import { IS_LONG, longTest } from '../support/long.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { ask } from './ask.ts';
import { startServer } from './processes.ts';

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
  const { status, text } = await ask(`${url}/api/books`);
  assert.equal(status, 200);
  const books: unknown = JSON.parse(text);
  assert.ok(Array.isArray(books));
  const known = shelves.map((shelf) => shelf.check(books)).reduce((sum, count) => sum + count, 0);
  assert.equal(books.length, known, 'every book is somebody\'s');
}

test(`kill -9 under ${WRITERS} clients that add, change and delete, ${ROUNDS} times, loses nothing`,
  async () => {
    const directory = join(root, 'killed');
    const shelves = Array.from({ length: WRITERS }, (_, writer) => new ClientShelf(writer));
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(['--data', directory]);
      await checkShelves(server.url, shelves);
      const before = shelves.reduce((sum, shelf) => sum + shelf.acknowledged, 0);
      const writing = writeUntilCut(server.url, shelves);
      await shelves[0]?.waitFor(5 + round * 7);
      await server.stop('SIGKILL');
      assert.ok(await writing > before, 'something was acknowledged');
    }
    const server = await startServer(['--data', directory]);
    await checkShelves(server.url, shelves);
    assert.equal((await server.stop()).code, 0);
  });

test('of two servers started at once exactly one wins; the other names its pid and exits with 1',
  async () => {
    const directory = join(root, 'raced');
    for (let round = 0; round < (IS_LONG ? 2 : 1); round++) {
      const start = () => startServer(['--data', directory]);
      const starts = await Promise.allSettled([start(), start()]);
      const winners = starts.flatMap((one) => one.status === 'fulfilled' ? [one.value] : []);
      const refusals = starts.flatMap((one) => one.status === 'rejected' ? [one.reason] : []);
      const [winner, refusal] = [winners[0], refusals[0]];
      assert.ok(winner !== undefined && winners.length === 1, refusals.join());
      assert.match(refusal.message,
        new RegExp(`^serve ended with 1: hookshelf: .*\\b${winner.child.pid}\\b.*\n$`));
      assert.equal((await winner.stop('SIGKILL')).code, null);
    }
  });

test('SIGTERM under load exits with 0, and what was acknowledged is there at the next start',
  async () => {
    const directory = join(root, 'ended');
    const shelves = Array.from({ length: WRITERS }, (_, writer) => new ClientShelf(writer));
    const server = await startServer(['--data', directory]);
    const writing = writeUntilCut(server.url, shelves);
    await shelves[0]?.waitFor(20);
    const { code, stderr } = await server.stop();
    assert.equal(code, 0, stderr);
    await writing;
    const next = await startServer(['--data', directory]);
    await checkShelves(next.url, shelves);
    await next.stop();
  });

longTest('SIGTERM while a body is half sent: once the rest has come it is answered, and we end',
  async () => {
    const server = await startServer(['--data', join(root, 'half')]);
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
    await ask(`${server.url}/healthz`);
    server.child.kill('SIGTERM');
    await refusal(Number(new URL(server.url).port));
    socket.write(body.slice(5));
    await closed;
    assert.match(answer, /^HTTP\/1\.1 201 /);
    assert.equal((await server.ended).code, 0);
  });

longTest('a second SIGTERM ends the server at once, and loses nothing either', async () => {
  const directory = join(root, 'twice');
  const shelves = Array.from({ length: WRITERS }, (_, writer) => new ClientShelf(writer));
  const server = await startServer(['--data', directory]);
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
  const next = await startServer(['--data', directory]);
  await checkShelves(next.url, shelves);
  await next.stop();
});

longTest('on a file system that is really full writers get 507, and service goes on by itself',
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
  const server = await startServer(['--data', join(directory, 'data')]);
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
  await server.stop('SIGKILL');
  const next = await startServer(['--data', join(directory, 'data')]);
  assert.equal(countOf((await ask(`${next.url}/api/books`)).text), stored + 1);
  await next.stop();
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
