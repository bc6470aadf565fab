/** The topic `events` of the stream, from outside: only where it is named, and what was missed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followStream } from '../support/event-stream.ts';
import { inFolder } from '../support/temporary-folder.ts';
import { addRecord, ask } from './ask.ts';
import { startServer } from './processes.ts';

test('events are told where they are named, and to who comes back what was missed', () =>
  inFolder(async (data) => {
    const server = await startServer(['--data', data]);
    const port = Number(new URL(server.url).port);
    await addRecord(`${server.url}/api/outgoing-webhooks`,
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.*' });
    const emit = async (name: string): Promise<string> => {
      const { text } = await ask(`${server.url}/api/events`,
        { method: 'POST', body: { name, payload: {} } });
      return JSON.parse(text).event;
    };
    const path = '/api/stream?topics=events';
    const reader = await followStream({ port }, { path });
    const unaware = await followStream({ port });
    const first = await emit('shop.opened');
    await reader.until(1);
    await reader.close();
    const missed = await emit('shop.closed');
    const resumed = await followStream({ port }, { path, lastEventId: reader.lastId() });
    await resumed.until(1);
    const told = [...reader.events, ...resumed.events]
      .map(({ event, data: text }) => [event, JSON.parse(text).id, JSON.parse(text).change]);
    assert.deepEqual(told, [['event', first, 'created'], ['event', missed, 'created']]);
    // What is told in order has passed by both events by then.
    await addRecord(`${server.url}/api/books`,
      { title: 'Emma', authors: [{ name: 'Jane Austen' }] });
    await unaware.until(1);
    while (!unaware.events.some(({ event }) => event === 'book')) {
      await unaware.until(unaware.events.length + 1);
    }
    assert.ok(unaware.events.every(({ event }) => event !== 'event'));
    await resumed.close();
    await unaware.close();
    await server.stop();
  }));
