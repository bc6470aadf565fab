/** Readers that come and go, or do not read, while others write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRandom } from '../support/random.ts';
import { RawConnection } from '../support/raw-http.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';
import { until } from '../support/until.ts';
import { openShelf } from './shelf.ts';
import type { Shelf } from './shelf.ts';

/** Writes transactions of one to three books; what a reader is to be told of them. */
async function write(
  { store }: Shelf, random: () => number, count: number, told: string[],
): Promise<void> {
  const writes = Array.from({ length: count }, async () => {
    const ids = Array.from({ length: 1 + Math.floor(random() * 3) }, () => `b${random()}`);
    await store.transact((transaction) => {
      for (const id of ids) {
        transaction.put('books', id, JSON.stringify({ id, text: 'x'.repeat(random() * 500) }));
      }
    });
    told.push(...ids);
  });
  await Promise.all(writes);
}

test('who comes back misses nothing and sees nothing twice, even after a restart', async () => {
  const random = createRandom(7);
  const files = new SimulatedFiles();
  const told: string[] = [];
  const seen: string[] = [];
  let lastId: string | undefined = '0';
  for (let restart = 0; restart < 4; restart += 1) {
    const shelf = await openShelf(files);
    const writing = (async () => {
      for (let round = 0; round < 30; round += 1) {
        await write(shelf, random, 20, told);
        if (round % 10 === 5) await shelf.store.compact();
      }
    })();
    let isWriting = true;
    void writing.finally(() => {
      isWriting = false;
    });
    while (isWriting) {
      const reader = await shelf.follow('', lastId);
      assert.equal(reader.status, 200);
      // From torn off at once to having caught up and being told live.
      for (let turns = Math.floor(random() ** 3 * 60); turns > 0; turns -= 1) await nextTurn();
      await reader.close();
      seen.push(...reader.events.map(({ data }) => JSON.parse(data).id));
      lastId = reader.lastId();
    }
    await writing;
    await shelf.close();
  }
  const shelf = await openShelf(files);
  const reader = await shelf.follow('', lastId);
  await reader.until(told.length - seen.length);
  seen.push(...reader.events.map(({ data }) => JSON.parse(data).id));
  await reader.close();
  await shelf.close();
  assert.ok(seen.length > 1000);
  assert.deepEqual(seen, told);
});

test('200 readers that do not read are cut; another sees all, and memory is bounded', async () => {
  const shelf = await openShelf();
  try {
    const slow = Array.from({ length: 200 }, () => new RawConnection({ port: shelf.port }));
    for (const connection of slow) {
      connection.socket.pause();
      connection.send('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
    }
    const reader = await shelf.follow();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    let count = 0;
    // What the kernel takes for each connection comes on top of our own limit.
    while (count < 2000 && shelf.cut() < slow.length) {
      const text = 'x'.repeat(32_768);
      await Promise.all([0, 1, 2, 3].map((index) => shelf.put(`b${count + index}`, { text })));
      count += 4;
      await reader.until(count);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    assert.equal(shelf.cut(), slow.length, `after ${count} books`);
    assert.deepEqual(reader.events.map(({ id }) => id),
      Array.from({ length: count }, (_, index) => String(index + 1)));
    // The store's own buffers, our client's, and what waits, which all readers share.
    const ownBytes = count * 32_768 * 4;
    // 75 MiB were measured on Node 26, which collects later; one copy a reader would be 1 GiB.
    assert.ok(most < ownBytes + 128 * 2 ** 20, `${most} bytes for ${count} books`);
    await reader.close();
    await until('nobody is left', () => shelf.listeners() === 0);
    for (const { socket } of slow) socket.destroy();
  } finally {
    await shelf.close();
  }
});

test('readers that are behind read back one at a time, however many they are', async () => {
  const shelf = await openShelf();
  try {
    // Some four pieces of the journal for each reader.
    const text = 'x'.repeat(1000);
    await Promise.all(Array.from({ length: 1000 }, (_, index) =>
      shelf.put(String(index).padStart(4, '0'), { text })));
    const readers = await Promise.all(Array.from({ length: 40 }, () => shelf.follow('', '0')));
    let isWatching = true;
    let most = 0;
    const watching = (async () => {
      for (let before = shelf.described(); isWatching;) {
        await nextTurn();
        most = Math.max(most, shelf.described() - before);
        before = shelf.described();
      }
    })();
    await Promise.all(readers.map((reader) => reader.until(1000)));
    isWatching = false;
    await watching;
    assert.equal(shelf.described(), 40 * 1000);
    // A piece has 256 KiB.
    assert.ok(most < 300, `${most} records in one turn of the loop`);
    await Promise.all(readers.map((reader) => reader.close()));
  } finally {
    await shelf.close();
  }
});
