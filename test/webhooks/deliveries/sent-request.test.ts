/** What deliveries sent, as it is shown; and what is sent again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { DOWN, Simulation, UP } from './sending/simulation.ts';

function shownOf(simulation: Simulation, id: string): Record<string, unknown> {
  const sent = simulation.webhooks.deliveries.findSentRequest(id)?.sent ?? null;
  if (sent === null) return {};
  const names = sent.headers.filter((_, index) => index % 2 === 0);
  return { ...sent, headers: Object.fromEntries(names.map((name, index) =>
    [name, sent.headers[2 * index + 1]])), body: sent.body?.toString() ?? null };
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.code === 'conflict';
}

test('a delivery shows what it sent, without secrets, after its webhook has changed', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', {
    targetUrl: 'http://me:password@target/path?token=hidden&a=1', httpMethod: 'PUT',
    headers: { 'X-Team': 'hidden', 'Content-Type': 'text/x-own' }, secret: 'hidden',
  });
  const [id = ''] = await simulation.emit({ n: 1 });
  await simulation.clock.advance(1000);
  const expected = {
    method: 'PUT', url: 'http://***@target/path?token=***&a=1', body: '{"n":1}',
    headers: {
      'content-type': 'text/x-own', 'x-team': '***', 'webhook-signature': '***',
      'x-signature': '***', 'x-hookshelf-chain': '1', 'webhook-id': id,
      'webhook-timestamp': simulation.requestsOf(id)[0]?.headers['webhook-timestamp'],
    },
  };
  assert.deepEqual(shownOf(simulation, id), expected);
  assert.deepEqual(Object.keys(simulation.requestsOf(id)[0]?.headers ?? {}).sort(),
    Object.keys(expected.headers).sort());
  const patch = { targetUrl: 'http://elsewhere/', headers: null, secret: null, httpMethod: 'POST' };
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, patch));
  assert.deepEqual(shownOf(simulation, id), expected);
  assert.doesNotMatch(JSON.stringify(simulation.store.lines.flat()
    .filter(({ collection }) => collection === 'deliveries')), /hidden|password/);
  await simulation.run(simulation.webhooks.resources.outgoing.remove(hook));
  assert.deepEqual(shownOf(simulation, id), expected);
});

test('a signature that a webhook has as a header of its own is not taken for ours', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', {
    headers: { 'Webhook-Signature': 'v1,theirs', 'X-Signature': 'theirs', 'X-Team': 'a' },
  });
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  const shown = shownOf(simulation, id)['headers'] as object;
  const [request] = simulation.requests;
  assert.deepEqual(Object.keys(shown).sort(), Object.keys(request?.headers ?? {}).sort());
});

test('what has not been sent, and what has no body, is not made up', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', { httpMethod: 'GET' });
  await simulation.addHook('waits', { triggerEvent: 'waits', enabled: true }, { kind: 'proxy' });
  const [id = ''] = await simulation.emit();
  const [waiting = ''] = await simulation.emit({}, 'waits');
  await simulation.clock.advance(1000);
  assert.deepEqual([shownOf(simulation, id)['method'], shownOf(simulation, id)['body']],
    ['GET', null]);
  assert.equal(simulation.webhooks.deliveries.findSentRequest(waiting)?.sent, null);
});

test('a queued forward shows what it sent', async () => {
  const simulation = new Simulation();
  const id = await simulation.run(simulation.webhooks.deliveries.queueForward({
    url: 'http://target/?token=hidden', method: 'POST', body: Buffer.from([1, 2, 255]),
    headers: { 'content-type': 'image/png', 'x-key': 'hidden', 'x-hookshelf-chain': '1' },
  }));
  await simulation.clock.advance(1000);
  const { url, headers } = shownOf(simulation, id);
  assert.equal(url, 'http://target/?token=***');
  assert.deepEqual(headers,
    { 'content-type': 'image/png', 'x-key': '***', 'x-hookshelf-chain': '1' });
  const sent = simulation.webhooks.deliveries.findSentRequest(id)?.sent;
  assert.deepEqual(sent?.body, Buffer.from([1, 2, 255]));
});

for (const size of [10, 20_000]) {
  for (const hooks of [1, 2]) {
    test(`${size} bytes to ${hooks} are sent again as they were, or anew`, async () => {
      const simulation = new Simulation();
      const ids: string[] = [];
      for (let count = 0; count < hooks; count += 1) {
        ids.push(await simulation.addHook(`target${count}`, {
          payloadTemplate: '{"was":"{{ payload }}"}', secret: 's',
        }));
      }
      const payload = 'x'.repeat(size);
      const [id = ''] = await simulation.emit(payload);
      await simulation.clock.advance(1000);
      const { deliveries, resources } = simulation.webhooks;
      for (const hook of ids) {
        await simulation.run(resources.outgoing.patch(hook, { payloadTemplate: null }));
      }
      const again = await simulation.run(deliveries.resend(id, 'retry'));
      assert.deepEqual([again.identifier, again.status], [id, 'pending']);
      await simulation.clock.advance(1000);
      const [first, second] = simulation.requestsOf(id);
      assert.ok(first?.body === JSON.stringify({ was: payload }) && second?.body === first.body);
      assert.equal(second.host, first.host);
      const anew = await simulation.run(deliveries.resend(id, 'new'));
      assert.deepEqual([anew.resendOf, anew.status, anew.event, anew.hook],
        [id, 'pending', 'thing.happened', again.hook]);
      await simulation.clock.advance(1000);
      const [third] = simulation.requestsOf(anew.identifier);
      assert.ok(third?.body === JSON.stringify(payload));
      assert.equal(third.host, first.host);
      const { problems, delivered } = await simulation.run(deliveries.reconcile());
      assert.deepEqual([problems, delivered], [[], hooks + 1]);
      await simulation.run(deliveries.resend(anew.identifier, 'retry'));
      await simulation.crash();
      assert.equal(simulation.delivery(anew.identifier)?.resendOf, id);
      assert.deepEqual((await simulation.run(simulation.webhooks.deliveries.reconcile())).problems,
        []);
    });
  }
}

test('a payload is sent again as it was, though the webhook has a template by then', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', { secret: 's' });
  const [id = ''] = await simulation.emit({ n: 1 });
  await simulation.clock.advance(1000);
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook,
    { payloadTemplate: '{"made":true}' }));
  await simulation.run(simulation.webhooks.deliveries.resend(id, 'retry'));
  await simulation.clock.advance(1000);
  assert.deepEqual(simulation.requestsOf(id).map(({ body }) => body), ['{"n":1}', '{"n":1}']);
});

test('cancelled, failed and pending ones are sent again, but a pending one not anew', async () => {
  const simulation = new Simulation({ outgoing: { retrySchedule: [3600] } });
  const hook = await simulation.addHook('target');
  const { deliveries, resources } = simulation.webhooks;
  simulation.targets.set('target', DOWN);
  const [failed = ''] = await simulation.emit();
  await simulation.clock.advance(2 * 3_600_000);
  assert.equal(simulation.delivery(failed)?.status, 'failed');
  const [cancelled = ''] = await simulation.emit();
  const [pending = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  await simulation.run(deliveries.cancel(cancelled));
  await assert.rejects(simulation.run(deliveries.resend(pending, 'new')), isConflict);
  simulation.targets.set('target', UP);
  for (const id of [failed, cancelled, pending]) {
    assert.equal((await simulation.run(deliveries.resend(id, 'retry'))).status, 'pending');
    await simulation.clock.advance(60_000);
    assert.equal(simulation.delivery(id)?.status, 'delivered');
  }
  await simulation.run(resources.outgoing.remove(hook));
  await assert.rejects(simulation.run(deliveries.resend(failed, 'retry')), isConflict);
  await assert.rejects(simulation.run(deliveries.resend('nope', 'retry')), /no delivery "nope"/);
});

test('what is sent again has its place in the queue, with its bytes', async () => {
  const payload = 'x'.repeat(30_000);
  const simulation = new Simulation({ outgoing: { maxPendingBytes: 40_000 } });
  await simulation.addHook('target');
  const [first = ''] = await simulation.emit(payload);
  await simulation.clock.advance(1000);
  simulation.targets.set('target', DOWN);
  await simulation.emit(payload);
  await simulation.clock.advance(1000);
  const { deliveries } = simulation.webhooks;
  for (const as of ['retry', 'new'] as const) {
    await assert.rejects(simulation.run(deliveries.resend(first, as)), (thrown) =>
      thrown instanceof AppError && thrown.code === 'unavailable');
  }
  simulation.targets.set('target', UP);
  await simulation.clock.advance(10_000);
  simulation.targets.set('target', DOWN);
  await simulation.run(deliveries.resend(first, 'retry'));
  await assert.rejects(simulation.run(simulation.webhooks.emit('thing.x', payload)), /full/);
});
