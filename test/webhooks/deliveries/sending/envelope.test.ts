/** Deliveries in the format `envelope`: the body that Standard Webhooks recommends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer, answer } from '../../../support/servers.ts';
import { startRelayFor } from '../../relay.ts';
import { DOWN, Simulation, UP } from './simulation.ts';

const ENVELOPE = { format: 'envelope', triggerEvent: '*' };
const AT = '2026-01-01T00:00:00.000Z';

async function emitText(simulation: Simulation, json: string, name: string): Promise<void> {
  const { events } = simulation.webhooks;
  await simulation.run(events.emitJson(name, json, { source: 'api', hops: 0 }));
}

test('the body names event and time, and the payload is its data byte for byte', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', ENVELOPE, DOWN);
  await emitText(simulation, '{"n": 1.0,\t"big":12345678901234567890}', 'order "a"');
  await simulation.clock.advance(1000);
  simulation.targets.set('target', UP);
  await simulation.clock.advance(10_000);
  assert.deepEqual(simulation.requests.map(({ body }) => body), Array(2).fill(
    `{"type":"order \\"a\\"","timestamp":"${AT}",`
    + '"data":{"n": 1.0,\t"big":12345678901234567890}}'));
});

test('what has the form already goes as it is, unless it names another event', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', ENVELOPE);
  const own = `{"type": "book.created","timestamp":"${AT}","data":{"book":{"id":"b"}}}`;
  await emitText(simulation, own, 'book.created');
  await emitText(simulation, own, 'book.kept');
  await emitText(simulation, own.replace('}}}', '}},"more":1}'), 'book.created');
  await simulation.clock.advance(1000);
  const [first, ...others] = simulation.requests.map(({ body }) => body);
  assert.equal(first, own);
  for (const body of others) assert.match(body, /^\{"type":"book\.\w+","timestamp":.*,"data":\{"t/);
});

test('a template makes the data', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', { ...ENVELOPE, payloadTemplate: '{"id": "{{ a }}"}' });
  await simulation.emit({ a: 7 }, 'order.paid');
  await simulation.clock.advance(1000);
  assert.equal(simulation.requests[0]?.body,
    `{"type":"order.paid","timestamp":"${AT}","data":{"id": 7}}`);
});

test('a delivery keeps the body of its first attempt when the format changes', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', ENVELOPE, DOWN);
  await simulation.emit({ a: 7 }, 'order.paid');
  await simulation.clock.advance(1000);
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { format: null }));
  await simulation.clock.advance(10_000);
  const [first, second] = simulation.requests.map(({ body }) => body);
  assert.deepEqual([second, first?.startsWith('{"type":"order.paid"')], [first, true]);
});

test('what is sent by hand is hookshelf.send, or has the form already', async (t) => {
  const target = await startServer({ onRequest: ({ socket }) => void socket.write(answer()) });
  t.after(() => target.close());
  const relay = await startRelayFor(t);
  const made = await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: target.url('/'), format: 'envelope' });
  const path = `/api/outgoing-webhooks/${String(made.json['identifier'])}/send`;
  const form = { type: 'order.paid', timestamp: AT, data: [1] };
  for (const payload of [{ n: 1 }, form]) {
    const sent = await relay.ask('POST', path, { payload });
    assert.equal(sent.json['success'], true, sent.text);
  }
  const [plain, whole] = target.received.map(({ body }) => JSON.parse(body.toString('utf8')));
  assert.deepEqual([plain.type, plain.data], ['hookshelf.send', { n: 1 }]);
  assert.match(plain.timestamp, /^\d{4}-\d\d-\d\dT\S+Z$/);
  assert.deepEqual(whole, form);
  const named = await relay.ask('POST', path, { event: 'order.paid', payload: { n: 1 } });
  assert.equal(named.status, 422);
  assert.match(named.text, /event of any name is sent by a payload such as .*order\.paid/);
});
