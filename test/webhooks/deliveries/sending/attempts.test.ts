/** What one attempt of a delivery is, and what is kept of it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  answer, startServer, type Received, type ScriptedServer,
} from '../../../support/servers.ts';
import { startRelay, type Relay } from '../../relay.ts';
import { Simulation } from './simulation.ts';

const RESPONSE_BYTES_MAX = 1024;

type Attempt = {
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly response: string;
};

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
  await hook(relay, { targetUrl: target.url(), triggerEvent: 'x' });
  return { relay, target };
}

async function hook(relay: Relay, body: object): Promise<void> {
  assert.equal((await relay.ask('POST', '/api/outgoing-webhooks', body)).status, 201);
}

/** The identifier of the only delivery of a new event. */
async function emit(relay: Relay, name = 'x'): Promise<string> {
  const { json } = await relay.ask('POST', '/api/events', { name });
  const [id = ''] = json['deliveries'] as string[];
  return id;
}

/** The attempts of a delivery, once there are any. */
async function attemptsOf(relay: Relay, id: string): Promise<readonly Attempt[]> {
  for (;;) {
    const { json } = await relay.ask('GET', `/api/deliveries/${id}`);
    const attempts = json['attempts'] as readonly Attempt[];
    if (attempts.length > 0) return attempts;
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

test('one attempt is one request, whatever http.retries says',
  { timeout: 120_000 }, async (context) => {
    const { relay, target } = await start(context, answer(503, 'not now'));
    const attempts = await attemptsOf(relay, await emit(relay));
    assert.deepEqual(attempts.map(({ statusCode }) => statusCode), [503]);
    assert.equal(target.received.length, 1);
    // The same client does try a send by hand again that asks for retries.
    const { text } = await relay.ask('GET', '/api/outgoing-webhooks');
    const [{ identifier }] = JSON.parse(text) as [{ identifier: string }];
    await relay.ask('POST', `/api/outgoing-webhooks/${identifier}/send`, { retries: 2 });
    assert.equal(target.received.length, 1 + 3);
  });

test('of an answer the first kibibyte is kept, cut between characters',
  { timeout: 120_000 }, async (context) => {
    const body = `x${'é'.repeat(4000)}`;
    const { relay } = await start(context, answer(200, body));
    const [attempt] = await attemptsOf(relay, await emit(relay));
    assert.equal(attempt?.response, body.slice(0, RESPONSE_BYTES_MAX / 2));
    assert.equal(Buffer.byteLength(attempt.response), RESPONSE_BYTES_MAX - 1);
  });

test('what arrives after a cancel is recorded: the target has it', async () => {
  for (const [status, after] of [[200, 'delivered'], [500, 'cancelled']] as const) {
    const simulation = new Simulation();
    await simulation.addHook('target', {}, { kind: 'answer', status });
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

test('the timeout of a webhook is that of its attempts, longer or shorter than the client\'s',
  { timeout: 120_000 }, async (context) => {
    const kept: Received[] = [];
    const target = await startServer({ onRequest: (received) => void kept.push(received) });
    const relay = await startRelay({
      outgoing: { retrySchedule: [3600] },
      client: { timeoutMs: 300, totalTimeoutMs: 300, retries: 2, retryDelayMs: 1 },
    });
    const patient = await startRelay({
      outgoing: { retrySchedule: [3600] }, client: { timeoutMs: 60_000, totalTimeoutMs: 60_000 },
    });
    context.after(async () => {
      await Promise.all([relay.close(), patient.close()]);
      await target.close();
    });
    for (const { webhooks } of [relay, patient]) webhooks.start();
    await hook(relay, { targetUrl: target.url('/late'), triggerEvent: 'late', timeout: 60 });
    await hook(relay, { targetUrl: target.url('/cut'), triggerEvent: 'cut' });
    await hook(patient, { targetUrl: target.url('/cut'), triggerEvent: 'cut', timeout: 0.05 });
    const late = await emit(relay, 'late');
    for (const each of [relay, patient]) {
      const [attempt] = await attemptsOf(each, await emit(each, 'cut'));
      assert.equal(attempt?.error, 'ETIMEDOUT');
    }
    const asked = kept.find(({ head }) => head.startsWith('POST /late '));
    asked?.socket.write(answer(200, 'late'));
    assert.equal((await attemptsOf(relay, late))[0]?.statusCode, 200);
  });
