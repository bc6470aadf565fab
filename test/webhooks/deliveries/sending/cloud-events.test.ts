/** Deliveries in the format `cloudevents`: CloudEvents 1.0.2 over HTTP, binary mode. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdSource } from '../../../../src/base/uuid.ts';
import { until } from '../../../support/until.ts';
import { startServer, answer } from '../../../support/servers.ts';
import { startRelayFor } from '../../relay.ts';
import { DOWN, Simulation, UP, type Request } from './simulation.ts';

const CLOUD = { format: 'cloudevents' };
const BOOK = '{"type":"book.created","timestamp":"2026-01-01T00:00:00.000Z","data":{"book":{'
  + '"id":"01a1f92d-f5d4-722a-8cfd-fb60a4838cfd","title":"Emma"}}}';

function attributesOf({ headers }: Pick<Request, 'headers'>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('ce-')));
}

async function emitBook(simulation: Simulation): Promise<void> {
  const { events } = simulation.webhooks;
  const inputs = {
    nowMs: simulation.clock.now(), seed: createIdSource(simulation.clock)(), hops: 0,
  };
  await simulation.run(simulation.store.transact((transaction) => {
    events.stageEvent(transaction, inputs, 'book.created', BOOK, { source: 'catalog' });
  }));
}

test('the headers are attributes, the same in each attempt, and the body is the data', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', { ...CLOUD, triggerEvent: 'book.*' }, DOWN);
  await emitBook(simulation);
  await simulation.clock.advance(1000);
  simulation.targets.set('target', UP);
  await simulation.clock.advance(10_000);
  const [first, second] = simulation.requests;
  assert.ok(first !== undefined && second !== undefined);
  const { 'ce-id': id = '', ...attributes } = attributesOf(first);
  assert.deepEqual(attributes, {
    'ce-specversion': '1.0', 'ce-source': 'urn:hookshelf', 'ce-type': 'book.created',
    'ce-time': '2026-01-01T00:00:00.000Z',
    'ce-subject': '01a1f92d-f5d4-722a-8cfd-fb60a4838cfd',
  });
  assert.deepEqual(attributesOf(second), attributesOf(first));
  assert.equal(first.body, BOOK);
  assert.equal(first.headers['content-type'], 'application/json');
  assert.ok(simulation.store.collection('events').findBytes(id) !== undefined, id);
});

test('values are percent-encoded as the binding says', async () => {
  const simulation = new Simulation({ cloudEventSource: 'https://example.com/50%25 "é"' });
  await simulation.addHook('target', { ...CLOUD, triggerEvent: '*' });
  await simulation.emit({}, 'größe "a" 5% ~!');
  await simulation.clock.advance(1000);
  const [request] = simulation.requests;
  assert.ok(request !== undefined);
  const { 'ce-type': type, 'ce-source': source, ...others } = attributesOf(request);
  assert.equal(type, 'gr%C3%B6%C3%9Fe%20%22a%22%205%25%20~!');
  assert.equal(source, 'https://example.com/50%2525%20%22%C3%A9%22');
  assert.equal(others['ce-subject'], undefined);
});

test('a delivery shows the attributes that it sent, with the signatures beside them', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', { ...CLOUD, secret: 'a' });
  const [id = ''] = await simulation.emit({ data: { book: { id: 'no book of ours' } } });
  await simulation.clock.advance(1000);
  const sent = simulation.webhooks.deliveries.findSentRequest(id)?.sent;
  const [request] = simulation.requestsOf(id);
  assert.ok(request !== undefined && sent !== null && sent !== undefined);
  const names = sent.headers.filter((_, index) => index % 2 === 0).sort();
  assert.deepEqual(names, Object.keys(request.headers).sort());
  for (const [name, value] of Object.entries(attributesOf(request))) {
    assert.equal(sent.headers[sent.headers.indexOf(name) + 1], value, name);
  }
  assert.ok(!names.includes('ce-subject'));
});

test('a new delivery of an event has the id of the event, and so has every webhook', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', CLOUD);
  await simulation.addHook('other', CLOUD);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  await simulation.run(simulation.webhooks.deliveries.resend(id, 'new'));
  await simulation.clock.advance(1000);
  const ids = simulation.requests.map((request) => attributesOf(request)['ce-id']);
  assert.equal(ids.length, 3);
  assert.equal(new Set(ids).size, 1);
});

test('what is sent by hand is hookshelf.send, at once and durably', async (t) => {
  const target = await startServer({ onRequest: ({ socket }) => void socket.write(answer()) });
  t.after(() => target.close());
  const relay = await startRelayFor(t);
  relay.webhooks.start();
  const made = await relay.ask('POST', '/api/outgoing-webhooks',
    { targetUrl: target.url('/'), ...CLOUD });
  const path = `/api/outgoing-webhooks/${String(made.json['identifier'])}`;
  const sent = await relay.ask('POST', `${path}/send`, { payload: { n: 1 } });
  assert.equal(sent.json['success'], true, sent.text);
  assert.equal((await relay.ask('POST', `${path}/deliveries`, { payload: {} })).status, 202);
  await until('both are there', () => target.received.length === 2);
  const types = target.received.map(({ head }) => /^ce-type: (.*?)\r?$/im.exec(head)?.[1]);
  assert.deepEqual(types, ['hookshelf.send', 'hookshelf.send']);
  const [first] = target.received;
  assert.match(first?.head ?? '', /^ce-id: \S+\r?$/im);
  assert.match(first?.head ?? '', /^ce-time: \d{4}-\d\d-\d\dT\S+Z\r?$/im);
});

test('without the format no request has an attribute', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', { format: 'standard' });
  await simulation.emit();
  await simulation.clock.advance(1000);
  const [request] = simulation.requests;
  assert.ok(request !== undefined);
  assert.deepEqual(attributesOf(request), {});
});
