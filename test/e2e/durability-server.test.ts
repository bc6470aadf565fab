import assert from 'node:assert/strict';
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
