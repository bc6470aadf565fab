/** The limits that an incoming webhook has of its own, in place of the settings. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ActionResult } from '../../../src/webhooks/actions/action.ts';
import { Held, InboxSimulation } from '../inbox/runs/inbox.ts';
import { startRelayFor, type Relay } from '../relay.ts';
import { turnsUntil } from '../../support/turns.ts';
import { createActionClass } from '../context.ts';

const PATH = '/api/incoming-webhooks/hook';

/** A relay with an action that ends when `finish` is called. */
async function startWithSlowAction(
  context: TestContext, incoming: object,
): Promise<{ readonly relay: Relay; count(): number; finish(): void }> {
  const runs: (() => void)[] = [];
  let count = 0;
  const Slow = createActionClass('slow', (): Promise<ActionResult> => {
    count += 1;
    return new Promise((resolve) => runs.push(() => resolve(ActionResult.ok())));
  });
  const relay = await startRelayFor(context, { actions: [Slow], incoming });
  return { relay, count: () => count, finish: () => runs.shift()?.() };
}

test('a webhook has a rate limit of its own, more or less than the setting', async (context) => {
  // The next token comes in a hundred seconds: no run of this takes so long.
  const relay = await startRelayFor(context, { incoming: { rateLimit: 0.01 } });
  await relay.hook({ actionType: 'log' }, { rateLimit: 0 });
  const call = async (): Promise<number> =>
    (await relay.ask('POST', '/webhook/in/hook', '{}')).status;
  assert.deepEqual([await call(), await call(), await call()], [200, 200, 200]);
  await relay.ask('PATCH', PATH, { rateLimit: 0.02 });
  assert.deepEqual([await call(), await call()], [200, 429]);
  assert.ok(relay.logLines.some((line) =>
    line.includes('more than 0.02 requests a second, its rate limit')));
  await relay.ask('PATCH', PATH, { description: 'the same' });
  assert.equal(await call(), 429);
  await relay.ask('PATCH', PATH, { rateLimit: null });
  assert.deepEqual([await call(), await call()], [200, 429]);
});

test('a webhook runs as many requests at once as it says itself', async (context) => {
  const { relay, count, finish } = await startWithSlowAction(context, { maxConcurrent: 1 });
  await relay.hook({ actionType: 'slow' }, { maxConcurrent: 2 });
  const both = [1, 2].map(() => relay.ask('POST', '/webhook/in/hook', '{}'));
  await turnsUntil(() => count() === 2);
  assert.equal((await relay.ask('POST', '/webhook/in/hook', '{}')).status, 503);
  assert.ok(relay.logLines.some((line) => line.includes('which is its maxConcurrent')));
  finish();
  finish();
  assert.deepEqual((await Promise.all(both)).map(({ status }) => status), [200, 200]);
});

test('an action has the time that its webhook gives it', async (context) => {
  const { relay } = await startWithSlowAction(context, { actionTimeoutMs: 3_600_000 });
  await relay.hook({ actionType: 'slow' }, { actionTimeout: 0.001 });
  const { status, json } = await relay.ask('POST', '/webhook/in/hook', '{}');
  assert.deepEqual([status, json['message']], [400, 'Action timed out']);
});

test('an accepted request has the time and the runs at once of its webhook', async () => {
  const inbox = new InboxSimulation({ incoming: { maxInFlightPerHook: 5 } });
  const held = new Held();
  inbox.act = held.act;
  const hook = await inbox.addWebhook(['a'], {
    maxInFlight: 2, actionTimeout: 7, retrySchedule: [],
  });
  const ids: string[] = [];
  for (let index = 0; index < 4; index += 1) ids.push(await inbox.accept(hook));
  await inbox.clock.advance(0);
  assert.equal(held.count, 2);
  await inbox.run(inbox.webhooks.resources.incoming.patch(hook, { maxInFlight: 3 }));
  await inbox.clock.advance(0);
  assert.equal(held.count, 3);
  await inbox.clock.advance(6999);
  assert.deepEqual(inbox.states(ids[0] ?? ''), ['pending', 'pending']);
  await inbox.clock.advance(2);
  assert.deepEqual(inbox.states(ids[0] ?? ''), ['failed', 'failed']);
});
