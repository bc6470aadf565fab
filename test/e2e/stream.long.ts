/** The event stream of a real server, through kill -9 and compaction under load. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { followStream } from '../support/event-stream.ts';
import type { Following, SeenEvent } from '../support/event-stream.ts';
import { createRandom } from '../support/random.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { ask } from './ask.ts';
import { hookshelf, startServer } from './processes.ts';

const WRITERS = 8;
const ROUNDS = 4;
const BOOKS_MAX = 5000;

/** Adds books until there are so many, or the server is gone; the ids that were acknowledged. */
async function addBooks(url: string, count: number, added: string[]): Promise<void> {
  const body = { title: 'Emma', authors: [{ name: 'Jane Austen' }] };
  const wanted = added.length + count;
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (added.length < wanted) {
      try {
        const { status, text } = await ask(`${url}/api/books`, { method: 'POST', body });
        if (status === 201) added.push(String(JSON.parse(text).id));
      } catch {
        return;
      }
    }
  }));
}

test('kill -9 and compaction under load: who follows sees every book once, in order', () =>
  inFolder(async (data) => {
    const random = createRandom(12);
    const added: string[] = [];
    const seen: SeenEvent[] = [];
    let lastId = '0';
    const read = async (port: number, isDone: (reader: Following) => boolean): Promise<void> => {
      const reader = await followStream({ port },
        { path: '/api/stream?topics=books', lastEventId: lastId });
      assert.equal(reader.status, 200);
      await until('it has read', () => reader.isEnded() || isDone(reader));
      await reader.close();
      seen.push(...reader.events);
      lastId = reader.lastId();
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await startServer(['--data', data]);
      const port = Number(new URL(server.url).port);
      const writing = addBooks(server.url, BOOKS_MAX, added);
      for (let torn = 0; torn < 4; torn += 1) {
        const enough = 1 + Math.floor(random() * 40);
        await read(port, ({ events }) => events.length >= enough);
        if (torn === 1) {
          const { code, stderr } = await hookshelf(['data:compact', '--data', data]);
          assert.equal(code, 0, stderr);
        }
      }
      const following = read(port, () => false);
      const before = added.length;
      await until('some more are added', () => added.length > before + 50);
      await server.stop('SIGKILL');
      await Promise.all([writing, following]);
    }
    const server = await startServer(['--data', data]);
    const port = Number(new URL(server.url).port);
    const { headers } = await ask(`${server.url}/api/books?limit=1`);
    const total = Number(headers['x-total-count']);
    await read(port, ({ events }) => seen.length + events.length >= total);
    await server.stop();
    const ids = seen.map((event) => String(JSON.parse(event.data).id));
    assert.equal(new Set(ids).size, ids.length, 'none came twice');
    assert.equal(ids.length, total, 'what is there came, and nothing else');
    const seenIds = new Set(ids);
    assert.deepEqual(added.filter((id) => !seenIds.has(id)), [], 'what was acknowledged came');
    const sequences = seen.map(({ id }) => Number(id));
    assert.deepEqual(sequences, sequences.toSorted((left, right) => left - right));
    assert.ok(seen.every(({ data: text }) => JSON.parse(text).change === 'created'));
  }));

test('works over the control socket, and a stopping server ends it at once', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const socketPath = join(data, 'control.sock');
    const reader = await followStream({ socketPath });
    const added: string[] = [];
    await addBooks(server.url, 1, added);
    await until('it is told', () => reader.events.length > 0);
    assert.deepEqual(JSON.parse(reader.events[0]?.data ?? '').id, added[0]);
    const { code } = await server.stop();
    assert.equal(code, 0);
    await until('it has ended', reader.isEnded);
    assert.ok(reader.response.complete, 'it was not torn');
  }));
