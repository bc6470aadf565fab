import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isSignatureValid, createSignatureKey,
} from '../../../../src/webhooks/senders/x-signature.ts';
import { endsInTurns, turnsUntil } from '../../../support/turns.ts';
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

test('a dead target is tried by schedule for two days, then the delivery has failed', async () => {
  const { simulation } = await one();
  simulation.targets.set('target', DOWN);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(40 * HOUR_MS);
  const delivery = simulation.delivery(id);
  assert.equal(delivery?.status, 'failed');
  const times = simulation.requestsOf(id).map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((atMs, index) => Math.round((atMs - (times[index] ?? 0)) / 1000));
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
