import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSignatureValid, createSignatureKey } from '../../../src/webhooks/senders/x-signature.ts';
import { endsInTurns, turnsUntil } from '../../support/turns.ts';
import { DOWN, Simulation, UP } from './simulation.ts';

const HOUR_MS = 3_600_000;
// A webhook-id is only sent with a secret.
const secret = 's';

async function one(options?: ConstructorParameters<typeof Simulation>[0]): Promise<{
  readonly simulation: Simulation; readonly hook: string;
}> {
  const simulation = new Simulation(options);
  return { simulation, hook: await simulation.addHook('target', { secret }) };
}

test('an event becomes one delivery a hook, and it arrives', async () => {
  const { simulation, hook } = await one();
  await simulation.addHook('other', { triggerEvent: 'other.*' });
  const ids = await simulation.emit({ a: 1 });
  await simulation.clock.advance(1000);
  assert.equal(ids.length, 1);
  const [id = ''] = ids;
  const delivery = simulation.delivery(id);
  assert.equal(delivery?.status, 'delivered');
  assert.equal(delivery.hook, hook);
  assert.deepEqual(delivery.attempts.map(({ statusCode, response, durationMs }) =>
    ({ statusCode, response, durationMs })),
  [{ statusCode: 200, response: 'answer 200', durationMs: 20 }]);
  const [request] = simulation.requests;
  assert.equal(request?.body, '{"a":1}');
  assert.ok(isSignatureValid(
    createSignatureKey(secret), Buffer.from(request.body), request.headers['x-signature']));
});

test('nothing is stored when no hook listens', async () => {
  const { simulation } = await one();
  const lines = simulation.store.lines.length;
  assert.deepEqual(await simulation.emit({}, 'unheard'), []);
  assert.equal(simulation.store.lines.length, lines);
});

test('a trigger that ends in .* takes what is below it, and nothing else', async () => {
  const simulation = new Simulation();
  const events = ['a.b', 'a.b.c', 'a', 'ab.c', 'a.b.c.d'];
  const counts: Record<string, number[]> = {};
  for (const trigger of ['a.b', 'a.*', 'a.b.*', '*']) {
    const hook = await simulation.addHook('target', { triggerEvent: trigger });
    counts[trigger] = [];
    for (const event of events) counts[trigger].push((await simulation.emit({}, event)).length);
    await simulation.run(simulation.webhooks.resources.outgoing.remove(hook));
  }
  assert.deepEqual(counts, {
    'a.b': [1, 0, 0, 0, 0], 'a.*': [1, 1, 0, 0, 1], 'a.b.*': [0, 1, 0, 0, 1], '*': [1, 1, 1, 1, 1],
  });
});

test('an event that a webhook hears by several of its triggers fires it once', async () => {
  const simulation = new Simulation();
  const events = ['a.b', 'a.b.c', 'a', 'c', 'd'];
  const heard = async (): Promise<number[]> => {
    const counts: number[] = [];
    for (const event of events) counts.push((await simulation.emit({}, event)).length);
    return counts;
  };
  const hook = await simulation.addHook('target', {
    triggerEvent: null, triggerEvents: ['a.b', 'a.*', 'a.b.*', 'c'],
  });
  await simulation.addHook('other', { triggerEvent: 'c' });
  assert.deepEqual(await heard(), [1, 1, 0, 2, 0]);
  const change = (body: object): Promise<unknown> =>
    simulation.run(simulation.webhooks.resources.outgoing.patch(hook, body));
  await change({ triggerEvents: ['d', '*'] });
  assert.deepEqual(await heard(), [1, 1, 1, 2, 1]);
  await change({ triggerEvents: ['d'] });
  assert.deepEqual(await heard(), [0, 0, 0, 1, 1]);
  await change({ enabled: false });
  assert.deepEqual(await heard(), [0, 0, 0, 1, 0]);
  await change({ enabled: true, triggerEvents: [] });
  assert.deepEqual(await heard(), [0, 0, 0, 1, 0]);
});

test('the payload is kept once an event, and goes some time after the last of its deliveries',
  async () => {
    const simulation = new Simulation({
      outgoing: { retentionMs: 3_600_000 }, events: { retentionMs: 3 * 3_600_000 },
    });
    for (const host of ['a', 'b', 'c']) await simulation.addHook(host, { secret });
    simulation.targets.set('c', DOWN);
    await simulation.emit({ big: 'x'.repeat(1000) });
    await simulation.clock.advance(1000);
    assert.equal(simulation.store.collection('events').size, 1);
    assert.equal(simulation.store.lines.flat().filter(({ json }) =>
      json?.includes('xxxx') === true).length, 1);
    simulation.targets.set('c', UP);
    await simulation.clock.advance(10_000);
    assert.equal(simulation.webhooks.deliveries.totals().delivered, 3);
    assert.equal(simulation.store.collection('events').size, 1);
    await simulation.clock.advance(2 * 3_600_000);
    assert.equal(simulation.webhooks.deliveries.totals().agedOut, 3);
    assert.equal(simulation.store.collection('events').size, 1);
    await simulation.clock.advance(2 * 3_600_000);
    assert.equal(simulation.store.collection('events').size, 0);
  });

test('a dead target is tried by the schedule for two days, then the delivery has failed',
  async () => {
    const { simulation } = await one();
    simulation.targets.set('target', DOWN);
    const [id = ''] = await simulation.emit();
    await simulation.clock.advance(40 * HOUR_MS);
    const delivery = simulation.delivery(id);
    assert.equal(delivery?.status, 'failed');
    const times = simulation.requestsOf(id).map(({ atMs }) => atMs);
    const gaps = times.slice(1).map((atMs, index) =>
      Math.round((atMs - (times[index] ?? 0)) / 1000));
    assert.deepEqual(gaps, [5, 300, 1800, 7200, 18000, 36000, 36000]);
    assert.ok(delivery.attempts.every(({ error }) => error === 'ECONNREFUSED'));
  });

test('the id stays over retries and the signature is made anew for each', async () => {
  const { simulation } = await one();
  simulation.targets.set('target', DOWN);
  const [id = ''] = await simulation.emit({ a: 1 });
  await simulation.clock.advance(HOUR_MS);
  const requests = simulation.requestsOf(id);
  assert.equal(requests.length, 4);
  assert.equal(new Set(requests.map(({ headers }) => headers['webhook-timestamp'])).size, 4);
  assert.equal(new Set(requests.map(({ body }) => body)).size, 1);
});

test('a longer Retry-After is honoured', async () => {
  const { simulation } = await one();
  simulation.targets.set('target', { kind: 'answer', status: 429, retryAfter: '3600' });
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(HOUR_MS - 60_000);
  assert.equal(simulation.requestsOf(id).length, 1);
  await simulation.clock.advance(120_000);
  assert.equal(simulation.requestsOf(id).length, 2);
});

test('410 fails the delivery and all others of its hook, and disables the hook', async () => {
  const { simulation, hook } = await one({ outgoing: { maxInFlightPerHook: 1 } });
  simulation.targets.set('target', DOWN);
  const ids = await simulation.emitMany(600);
  simulation.targets.set('target', { kind: 'answer', status: 410 });
  await simulation.clock.advance(10_000);
  assert.ok(ids.every((id) => simulation.delivery(id)?.status === 'failed'));
  const stored = simulation.store.collection('outgoing-webhooks').find(hook);
  assert.equal(JSON.parse(stored?.bytes.toString() ?? '').enabled, false);
  assert.deepEqual(await simulation.emit(), []);
  assert.ok((await simulation.run(simulation.webhooks.deliveries.reconcile())).isReconciled);
});

test("a proxy's failures use up no attempt, however many", async () => {
  const { simulation } = await one();
  simulation.targets.set('target', { kind: 'proxy' });
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(10 * HOUR_MS);
  assert.ok(simulation.requests.length > 10);
  assert.deepEqual(simulation.delivery(id)?.attempts, []);
  simulation.targets.set('target', UP);
  await simulation.clock.advance(HOUR_MS);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

test('deliveries of a disabled hook wait, and go when it is enabled', async () => {
  const { simulation, hook } = await one();
  simulation.targets.set('target', DOWN);
  const [id = ''] = await simulation.emit();
  const { outgoing } = simulation.webhooks.resources;
  await simulation.run(outgoing.patch(hook, { enabled: false }));
  simulation.targets.set('target', UP);
  await simulation.clock.advance(20 * HOUR_MS);
  assert.equal(simulation.requestsOf(id).length, 1);
  assert.equal(simulation.delivery(id)?.status, 'pending');
  await simulation.run(outgoing.patch(hook, { enabled: true }));
  await simulation.clock.advance(1000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

test("a deleted hook's deliveries are cancelled with it, however many", async () => {
  const { simulation, hook } = await one();
  simulation.targets.set('target', DOWN);
  const ids = await simulation.emitMany(600);
  const removal = simulation.webhooks.resources.outgoing.remove(hook);
  await simulation.run(removal);
  assert.ok(ids.every((id) => simulation.delivery(id)?.status === 'cancelled'));
  await simulation.clock.advance(20 * HOUR_MS);
  assert.ok(ids.every((id) => simulation.requestsOf(id).length <= 1));
});

test('closing ends while the many deliveries of a removed webhook are cancelled', async () => {
  const { simulation, hook } = await one();
  simulation.targets.set('target', DOWN);
  const ids = await simulation.emitMany(600);
  const countCancelled = (): number =>
    ids.filter((id) => simulation.delivery(id)?.status === 'cancelled').length;
  const removal = simulation.webhooks.resources.outgoing.remove(hook);
  await turnsUntil(() => countCancelled() > 0);
  assert.ok(countCancelled() < 600);
  const closing = simulation.webhooks.close(0);
  await endsInTurns(Promise.all([closing, removal, simulation.clock.advance(0)]));
});

test('target and secret are read at each attempt', async () => {
  const { simulation, hook } = await one();
  simulation.targets.set('target', DOWN);
  const [id = ''] = await simulation.emit({ a: 1 });
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, {
    targetUrl: 'http://moved/', secret: 'new',
  }));
  await simulation.clock.advance(10_000);
  const last = simulation.requestsOf(id).at(-1);
  assert.equal(last?.host, 'moved');
  assert.ok(isSignatureValid(
    createSignatureKey('new'), Buffer.from(last.body), last.headers['x-signature']));
});

test('a host that refuses everything is left alone more and more, until it answers', async () => {
  const { simulation } = await one();
  simulation.targets.set('target', DOWN);
  const ids = await simulation.emitMany(500);
  assert.ok(simulation.requests.length < 50, `${simulation.requests.length} at once`);
  simulation.targets.set('target', UP);
  await simulation.clock.advance(10_000);
  assert.ok(ids.every((id) => simulation.delivery(id)?.status === 'delivered'));
});
