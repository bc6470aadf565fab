/** What is written of an event, its deliveries and their bodies: each once, and nothing twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRelay } from '../relay.ts';
import { DOWN, Simulation, UP } from './sending/simulation.ts';

/**
 * The names of the collections that each transaction since `from` wrote to, without health and
 * statistics, which are written some time after.
 */
function collectionsSince(simulation: Simulation, from: number): readonly (readonly string[])[] {
  const others = ['webhook-health', 'webhook-statistics'];
  return simulation.store.lines.slice(from)
    .map((line) => line.map(({ collection }) => collection)
      .filter((name) => !others.includes(name)));
}

function recordOf(simulation: Simulation, collection: string, id: string): unknown {
  return JSON.parse(String(simulation.store.collection(collection).findBytes(id)));
}

test('an event is a record beside its deliveries, and says for which webhooks', async () => {
  const simulation = new Simulation();
  const hooks = [await simulation.addHook('a'), await simulation.addHook('b')];
  const ids = await simulation.emit({ n: 1 });
  const eventId = simulation.delivery(ids[0] ?? '')?.eventId ?? '';
  assert.ok(ids.every((id) => id > eventId));
  const { createdAt, ...event } = recordOf(simulation, 'events', eventId) as
    { createdAt: string };
  assert.deepEqual(event, {
    identifier: eventId, name: 'thing.happened', source: 'api', hooks, depth: 1,
    payload: { n: 1 },
  });
  assert.equal(createdAt, simulation.delivery(ids[0] ?? '')?.createdAt);
});

test('an attempt writes the delivery alone, and a made body is written once before', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', { payloadTemplate: '{"made": "{{ n }}"}' }, DOWN);
  const from = simulation.store.lines.length;
  const [id = ''] = await simulation.emit({ n: 1 });
  await simulation.clock.advance(6000);
  simulation.targets.set('target', UP);
  await simulation.clock.advance(24 * 3_600_000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
  assert.deepEqual(collectionsSince(simulation, from).filter(({ length }) => length > 0),
    [['events', 'deliveries'], ['delivery-bodies'],
      ...Array.from({ length: simulation.requests.length }, () => ['deliveries'])]);
  assert.deepEqual(recordOf(simulation, 'delivery-bodies', id),
    { identifier: id, bodyText: '{"made": 1}' });
  const sent = simulation.webhooks.deliveries.findSentRequest(id)?.sent;
  assert.equal(sent?.body?.toString(), '{"made": 1}');
});

test('a body that is the payload is written with no attempt, and stays what it was', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', {}, DOWN);
  const from = simulation.store.lines.length;
  const [id = ''] = await simulation.emit({ n: 1 });
  await simulation.clock.advance(1000);
  // What every retry sends was decided by the first attempt.
  const { outgoing } = simulation.webhooks.resources;
  await simulation.run(outgoing.patch(hook, { payloadTemplate: '{"made": "{{ n }}"}' }));
  simulation.targets.set('target', UP);
  await simulation.clock.advance(24 * 3_600_000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['{"n":1}', '{"n":1}']);
  assert.deepEqual(collectionsSince(simulation, from).filter(({ length }) => length > 0),
    [['events', 'deliveries'], ['deliveries'], ['outgoing-webhooks'], ['deliveries']]);
});

test('a body goes with its delivery', async () => {
  const simulation = new Simulation({ outgoing: { retentionCount: 0 } });
  await simulation.addHook('target',
    { payloadTemplate: '{"made": "{{ n }}"}' }, { kind: 'slow', ms: 100 });
  await simulation.emit({ n: 1 });
  assert.equal(simulation.store.collection('delivery-bodies').size, 1);
  await simulation.clock.advance(1000);
  assert.equal(simulation.store.collection('deliveries').size, 0);
  assert.equal(simulation.store.collection('delivery-bodies').size, 0);
});

test('what is made anew for a resend is kept beside what was sent first', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', { payloadTemplate: '{"made": "{{ n }}"}' });
  const [id = ''] = await simulation.emit({ n: 1 });
  await simulation.clock.advance(1000);
  const { deliveries, resources } = simulation.webhooks;
  await simulation.run(resources.outgoing.patch(hook, { payloadTemplate: '{"now": "{{ n }}"}' }));
  const again = await simulation.run(deliveries.resend(id, 'new'));
  await simulation.clock.advance(1000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), ['{"made": 1}', '{"now": 1}']);
  const eventId = simulation.delivery(id)?.eventId ?? '';
  assert.equal(again.eventId, eventId);
  assert.equal(simulation.store.collection('events').size, 1);
  assert.deepEqual(recordOf(simulation, 'event-receivers', eventId),
    { identifier: eventId, deliveries: [again.identifier], hooks: [hook] });
  assert.equal(deliveries.findSentRequest(id)?.sent?.body?.toString(), '{"made": 1}');
});

test('a forward goes with what it sent, and a resend as new has its own', async () => {
  const simulation = new Simulation({ outgoing: { retentionCount: 1 } });
  const forward = { url: 'http://there/', method: 'POST', headers: {}, body: Buffer.from('said') };
  const { deliveries } = simulation.webhooks;
  const id = await simulation.run(deliveries.queueForward(forward));
  await simulation.clock.advance(1000);
  const again = await simulation.run(deliveries.resend(id, 'new'));
  assert.notEqual(again.eventId, simulation.delivery(id)?.eventId);
  await simulation.clock.advance(1000);
  assert.equal(simulation.delivery(id), undefined);
  assert.equal(simulation.store.collection('events').size, 1);
  assert.equal(deliveries.findSentRequest(again.identifier)?.sent?.body?.toString(), 'said');
  const { problems } = await simulation.run(deliveries.reconcile());
  assert.deepEqual(problems, []);
});

test('an event says who made it', async () => {
  const relay = await startRelay();
  try {
    const target = { targetUrl: 'http://127.0.0.1:1/', triggerEvent: 'told' };
    await relay.ask('POST', '/api/outgoing-webhooks', target);
    await relay.hook({ actionType: 'emit-event', options: { name: 'told' } });
    await relay.ask('POST', '/api/events', { name: 'told' });
    await relay.control('/api/events', { name: 'told' });
    await relay.ask('POST', '/webhook/in/hook', {});
    await relay.webhooks.emit('told', {});
    const events = relay.store.collection('events');
    const sources: string[] = [];
    for (let slot = 0; slot < events.slotBound; slot += 1) {
      const bytes = events.bytesAt(slot);
      if (bytes !== undefined) sources.push(String(JSON.parse(bytes.toString())['source']));
    }
    assert.deepEqual(sources, ['api', 'command', 'action', 'api']);
  } finally {
    await relay.webhooks.closeHealth();
    await relay.close();
  }
});
