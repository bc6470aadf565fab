/**
 * The topic `events` of the stream, from outside: only where it is named, what was missed, and what
 * is not told.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withAppServer } from '../support/app-server.ts';
import { followStream, type Following } from '../support/event-stream.ts';
import { until } from '../support/until.ts';
import { addRecord, ask } from './ask.ts';

/** A change is told within a moment, or never. */
const WAIT_MS_MAX = 15_000;

test('events are told where they are named, and to who comes back what was missed', () =>
  withAppServer(async ({ url, port }) => {
    await addRecord(`${url}/api/outgoing-webhooks`,
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.*' });
    const emit = async (name: string): Promise<string> => {
      const { text } = await ask(`${url}/api/events`,
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
    await addRecord(`${url}/api/books`,
      { title: 'Emma', authors: [{ name: 'Jane Austen' }] });
    await unaware.until(1);
    while (!unaware.events.some(({ event }) => event === 'book')) {
      await unaware.until(unaware.events.length + 1);
    }
    assert.ok(unaware.events.every(({ event }) => event !== 'event'));
    await resumed.close();
    await unaware.close();
  }));

test('a stream is of the webhook that its name says, of either direction', () =>
  withAppServer(async ({ url, port }) => {
    const { identifier } = JSON.parse((await ask(`${url}/api/outgoing-webhooks`, {
      method: 'POST',
      body: { name: 'shop', targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'shop.*' },
    })).text);
    const path = '/api/stream?topics=deliveries&hook=shop';
    const reader = await followStream({ port }, { path });
    await ask(`${url}/api/events`, { method: 'POST', body: { name: 'shop.opened', payload: {} } });
    await reader.until(1);
    assert.equal(JSON.parse(reader.events[0]?.data ?? '').hook, identifier);
    await reader.close();
  }));

type Told = {
  readonly id?: string; readonly kind?: string; readonly status: string;
  readonly routes?: readonly { readonly attempts: readonly unknown[] }[];
};

function listTold(reader: Following | undefined, topicEvent: string): readonly Told[] {
  return reader?.events.filter(({ event }) => event === topicEvent)
    .map(({ data }) => JSON.parse(data)) ?? [];
}

test('the delivery of a request to a route comes as a change of that request', () =>
  withAppServer(async ({ url, port }) => {
    await addRecord(`${url}/api/action-configurations`,
      { identifier: 'note', actionType: 'log' });
    await addRecord(`${url}/api/incoming-webhooks`, {
      pathSegment: 'in', actionConfiguration: 'note', inbox: 'all', answer: 'accepted',
    });
    await addRecord(`${url}/api/outgoing-webhooks`,
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'last' });
    const readers = [
      await followStream({ port }),
      await followStream({ port }, { path: '/api/stream?topics=events' }),
      await followStream({ port }, { path: '/api/stream?topics=deliveries,requests,events' }),
    ];
    const sent = await ask(`${url}/webhook/in/in`, { method: 'POST', body: { n: 1 } });
    assert.equal(sent.status, 200, sent.text);
    const [whole, events, several] = readers;
    await until('the run is told', () => [whole, several].every((reader) =>
      listTold(reader, 'request').some(({ status }) => status === 'done')), { msMax: WAIT_MS_MAX });
    await ask(`${url}/api/events`, { method: 'POST', body: { name: 'last', payload: {} } });
    await events?.until(1);
    for (const reader of [whole, several]) {
      await until('the delivery of the event is told', () =>
        listTold(reader, 'delivery').length > 0);
      const requests = listTold(reader, 'request');
      assert.equal(new Set(requests.map(({ id }) => id)).size, 1);
      assert.deepEqual(requests.at(-1)?.routes?.map(({ attempts }) => attempts.length), [1]);
      const kinds = listTold(reader, 'delivery').map(({ kind }) => kind);
      assert.deepEqual(new Set(kinds), new Set(['webhook']));
    }
    assert.deepEqual(events?.events.map(({ event }) => event), ['event']);
    for (const reader of readers) await reader.close();
  }));

test('that an event is too old, or one too many, is not told', () =>
  withAppServer(async ({ url, port }) => {
    const path = '/api/stream?topics=events';
    const reader = await followStream({ port }, { path });
    const ids: string[] = [];
    const emit = async (): Promise<void> => {
      const { text } = await ask(`${url}/api/events`,
        { method: 'POST', body: { name: 'shop.opened', payload: {} } });
      ids.push(JSON.parse(text).event);
    };
    for (let count = 0; count < 5; count += 1) await emit();
    const countKept = async (): Promise<number> =>
      JSON.parse((await ask(`${url}/api/events`)).text).length;
    await until('the oldest have gone', async () => await countKept() < 5);
    await emit();
    await reader.until(6);
    // What was told is read back from the log, too.
    const [first = { id: '' }] = reader.events;
    const resumed = await followStream({ port }, { path, lastEventId: first.id });
    await until('the last one is told', () => resumed.events.some(({ data: text }) =>
      JSON.parse(text).id === ids.at(-1)));
    const toldOf = ({ events }: typeof reader): readonly unknown[] =>
      events.map(({ data: text }) => [JSON.parse(text).change, JSON.parse(text).id]);
    assert.deepEqual(toldOf(reader), ids.map((id) => ['created', id]));
    assert.deepEqual(toldOf(resumed), ids.slice(1).map((id) => ['created', id]));
    await reader.close();
    await resumed.close();
  }, { HOOKSHELF_EVENTS_KEEP: 'all', HOOKSHELF_EVENTS_MAX_BYTES: '300' }));
