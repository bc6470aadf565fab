import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRelay, type Relay } from '../relay.ts';

async function emit(relay: Relay, name: string): Promise<Record<string, unknown>> {
  const { status, json } = await relay.ask('POST', '/api/events', { name, payload: { n: 1 } });
  assert.equal(status, 202);
  return { ...json };
}

const countEvents = ({ store }: Relay): number => store.collection('events').size;

test('an event that nobody hears is not kept', async (t) => {
  const relay = await startRelay();
  t.after(() => relay.close());
  await relay.webhooks.emit('quiet', {});
  assert.deepEqual(await emit(relay, 'quiet'), { event: null, deliveries: [] });
  assert.equal(countEvents(relay), 0);
  assert.equal(relay.webhooks.events.mayKeep('quiet'), false);
});

test('with `all` an event that nobody hears is kept, and is no delivery', async (t) => {
  const relay = await startRelay({ events: { keep: 'all' } });
  t.after(() => relay.close());
  const { event, deliveries } = await emit(relay, 'quiet');
  assert.deepEqual(deliveries, []);
  const record = relay.store.collection('events').findBytes(String(event))?.toString() ?? '';
  assert.match(record, /"name":"quiet","source":"api",.*"hooks":\[\],.*"payload":\{"n":1\}\}$/);
  assert.equal(relay.webhooks.deliveries.totals().accepted, 0);
});

test('with `all` the events of one turn are kept, those that fire a webhook and the others',
  async (t) => {
    const relay = await startRelay({ events: { keep: 'all' } });
    t.after(() => relay.close());
    await relay.ask('POST', '/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'heard' });
    const counts = await Promise.all(['quiet', 'heard', 'quiet'].map(async (name) =>
      (await relay.webhooks.emit(name, {})).length));
    assert.deepEqual(counts, [0, 1, 0]);
    assert.equal(countEvents(relay), 3);
  });

test('no event is refused because of events.maxBytes, nor for what others that are kept take',
  async (t) => {
    const relay = await startRelay({
      events: { keep: 'all', bytesMax: 0 }, outgoing: { maxPending: 2, maxPendingBytes: 2000 },
    });
    t.after(() => relay.close());
    await relay.ask('POST', '/api/outgoing-webhooks',
      { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'heard' });
    const payload = 'x'.repeat(1500);
    for (const name of ['quiet', 'quiet', 'quiet', 'heard']) {
      const { status, text } = await relay.ask('POST', '/api/events', { name, payload });
      assert.equal(status, 202, text);
    }
    // They were not removed: nothing is swept before the start.
    assert.equal(countEvents(relay), 4);
  });

test('the event of an answer has the deliveries of the answer', async (t) => {
  const relay = await startRelay();
  t.after(() => relay.close());
  await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: 'http://127.0.0.1:1/', triggerEvent: '*' });
  const { event, deliveries: [id] } =
    await emit(relay, 'heard') as { event: string; deliveries: string[] };
  assert.equal(relay.store.collection('events').findBytes(event) === undefined, false);
  const { json } = await relay.ask('GET', `/api/deliveries/${id}`);
  assert.deepEqual([json['event'], json['eventId']], ['heard', event]);
});
