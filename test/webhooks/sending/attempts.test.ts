/** What one attempt of a delivery is, and what is kept of it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { answer, startServer, type ScriptedServer } from '../../support/servers.ts';
import { startRelay, type Relay } from '../relay.ts';
import { Simulation } from './simulation.ts';

const RESPONSE_BYTES_MAX = 1024;

type Attempt = { readonly statusCode: number; readonly response: string };

async function start(
  context: TestContext, reply: string,
): Promise<{ relay: Relay; target: ScriptedServer }> {
  const target = await startServer({ onRequest: ({ socket }) => void socket.write(reply) });
  const relay = await startRelay({
    outgoing: { retrySchedule: [3600] }, client: { retries: 2, retryDelayMs: 1 },
  });
  context.after(async () => {
    await relay.close();
    await target.close();
  });
  relay.webhooks.start();
  const hook = { targetUrl: target.url(), triggerEvent: 'x' };
  assert.equal((await relay.ask('POST', '/api/outgoing-webhooks', hook)).status, 201);
  return { relay, target };
}

/** The attempts of one new delivery, once there are any. */
async function attemptsOf(relay: Relay): Promise<readonly Attempt[]> {
  const emitted = await relay.ask('POST', '/api/events', { name: 'x' });
  const [id] = emitted.json['deliveries'] as string[];
  for (;;) {
    const { json } = await relay.ask('GET', `/api/deliveries/${id}`);
    const attempts = json['attempts'] as readonly Attempt[];
    if (attempts.length > 0) return attempts;
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

test('one attempt is one request, whatever http.retries says',
  { timeout: 20_000 }, async (context) => {
    const { relay, target } = await start(context, answer(503, 'not now'));
    assert.deepEqual((await attemptsOf(relay)).map(({ statusCode }) => statusCode), [503]);
    assert.equal(target.received.length, 1);
    // The same client does try a one-off send again.
    const { text } = await relay.ask('GET', '/api/outgoing-webhooks');
    const [{ identifier }] = JSON.parse(text) as [{ identifier: string }];
    await relay.ask('POST', `/api/outgoing-webhooks/${identifier}/send`);
    assert.equal(target.received.length, 1 + 3);
  });

test('of an answer the first kibibyte is kept, cut between characters',
  { timeout: 20_000 }, async (context) => {
    const body = `x${'é'.repeat(4000)}`;
    const { relay } = await start(context, answer(200, body));
    const [attempt] = await attemptsOf(relay);
    assert.equal(attempt?.response, body.slice(0, RESPONSE_BYTES_MAX / 2));
    assert.equal(Buffer.byteLength(attempt.response), RESPONSE_BYTES_MAX - 1);
  });

test('what arrives after a cancel is recorded: the target has it', async () => {
  for (const [status, after] of [[200, 'delivered'], [500, 'cancelled']] as const) {
    const simulation = new Simulation();
    simulation.targets.set('target', { kind: 'answer', status });
    await simulation.addHook('target');
    const [id = ''] = await simulation.emit();
    await simulation.clock.advance(10);
    assert.equal(simulation.underWay.length, 1);
    const cancelled = await simulation.run(simulation.webhooks.deliveries.cancel(id));
    assert.equal(cancelled.status, 'cancelled');
    await simulation.clock.advance(1000);
    const { status: final, attempts } = simulation.delivery(id) ?? assert.fail();
    assert.deepEqual([final, attempts.map(({ statusCode }) => statusCode)], [after, [status]]);
    await simulation.clock.advance(24 * 3_600_000);
    assert.equal(simulation.requests.length, 1);
    const { deliveries } = simulation.webhooks;
    assert.equal((await simulation.run(deliveries.reconcile())).isReconciled, true);
  }
});
