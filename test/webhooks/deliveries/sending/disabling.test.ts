/** A webhook whose every attempt fails for as long as its `disableAfterHours` is disabled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_OWNED, type Ownership } from '../../../../src/webhooks/work/ownership.ts';
import { disableFailingWebhook } from '../../../../src/webhooks/outgoing/automatic-disabling.ts';
import type { FailurePeriod } from '../../../../src/webhooks/health/health.ts';
import { decodeHealth } from '../../../../src/webhooks/health/health-record.ts';
import { encodeRecord } from '../../../../src/resources/record.ts';
import { webhookCollections } from '../../../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../../../support/memory-store.ts';
import { ScriptedOwnership } from '../../work/scripted-ownership.ts';
import { DOWN, Simulation, UP, type Behaviour } from './simulation.ts';

const MINUTE_MS = 60_000;
const HOOK = { targetUrl: 'http://a/', httpMethod: 'POST', enabled: true };
const BEGIN = '2026-01-01T00:00:00.000Z';
const CHANGED_AT = '2026-01-02T00:00:00.000Z';
const ENDLESS = new Array<number>(100).fill(600);

/** A hook that is tried every ten minutes, and disabled after an hour of failures. */
async function place(
  behaviour: Behaviour, members: object = {}, ownership: Ownership = ALL_OWNED,
): Promise<{ simulation: Simulation; hook: string; id: string }> {
  const simulation = new Simulation({ ownership });
  const hook = await simulation.addHook('target', {
    secret: 'a secret', retrySchedule: ENDLESS, disableAfterHours: 1, ...members,
  }, behaviour);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(0);
  return { simulation, hook, id };
}

function storedPeriod({ store }: Simulation, hook: string): FailurePeriod | null {
  const bytes = store.collection('webhook-health').find(hook)?.bytes;
  return bytes === undefined ? null : decodeHealth(bytes).health.failurePeriod;
}

/** Minutes from now until the hook is disabled; null when it is not within three hours. */
async function minutesUntilDisabled(simulation: Simulation, hook: string): Promise<number | null> {
  for (let minutes = 0; minutes <= 3 * 60; minutes += 1) {
    if (!simulation.isEnabled(hook)) return minutes;
    await simulation.clock.advance(MINUTE_MS);
  }
  return null;
}

for (const [title, behaviour] of [
  ['refuses', DOWN], ['answers 500', { kind: 'answer', status: 500 }],
] as const) {
  test(`a target that ${title} for so long disables the webhook; its deliveries wait`, async () => {
    const { simulation, hook, id } = await place(behaviour);
    const common = await simulation.addHook('target', { disableAfterHours: 0 });
    assert.ok([60, 61].includes(await minutesUntilDisabled(simulation, hook) ?? -1));
    assert.equal(simulation.requestsOf(id).length, 7);
    assert.equal(simulation.delivery(id)?.status, 'pending');
    assert.equal(simulation.delivery(id)?.attempts.length, 7);
    assert.ok(simulation.isEnabled(common));
    const warnings = simulation.logLines.filter((line) => line.includes('was disabled'));
    assert.equal(warnings.length, 1);
    assert.ok(warnings[0]?.includes(hook) && warnings[0].includes('disableAfterHours'));
    simulation.targets.set('target', UP);
    await simulation.clock.advance(600 * MINUTE_MS);
    assert.equal(simulation.requestsOf(id).length, 7);
    await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { enabled: true }));
    await simulation.clock.advance(11 * MINUTE_MS);
    assert.equal(simulation.delivery(id)?.status, 'delivered');
    assert.equal(storedPeriod(simulation, hook), null);
  });
}

test('a lease that ends before the transaction runs again disables nothing, silently', async () => {
  const ownership = new ScriptedOwnership();
  const { simulation, hook } = await place(DOWN, {}, ownership);
  const lease = ownership.gain(hook);
  const { store } = simulation;
  const { transact } = store;
  store.transact = (prepare) => {
    const firstRun = transact.call(store, (transaction) => {
      prepare(transaction);
      const bytes = transaction.find('outgoing-webhooks', hook);
      if (JSON.parse(String(bytes)).enabled === false) lease.isHeldNow = false;
      throw new Error('it runs again');
    });
    firstRun.catch(() => {});
    return transact.call(store, prepare) as never;
  };
  await simulation.clock.advance(71 * MINUTE_MS);
  assert.deepEqual([lease.isHeldNow, simulation.isEnabled(hook)], [false, true]);
  assert.deepEqual(simulation.logLines.filter((line) => line.includes('was disabled')), []);
});

test('the time is known after a crash', async () => {
  const { simulation, hook } = await place(DOWN);
  for (let crashes = 0; crashes < 5; crashes += 1) {
    await simulation.clock.advance(9.5 * MINUTE_MS);
    await simulation.crash();
  }
  assert.ok(simulation.isEnabled(hook));
  assert.ok((await minutesUntilDisabled(simulation, hook) ?? Infinity) <= 15);
});

test('a success begins anew, and so does any change by a person', async () => {
  const { simulation, hook } = await place(DOWN);
  await simulation.clock.advance(45 * MINUTE_MS);
  assert.ok(storedPeriod(simulation, hook) !== null);
  simulation.targets.set('target', UP);
  await simulation.emit();
  await simulation.clock.advance(1000);
  assert.equal(storedPeriod(simulation, hook), null);
  simulation.targets.set('target', DOWN);
  await simulation.emit();
  await simulation.clock.advance(45 * MINUTE_MS);
  assert.ok(simulation.isEnabled(hook));
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { headers: { a: 'b' } }));
  const minutes = await minutesUntilDisabled(simulation, hook) ?? 0;
  assert.ok(minutes >= 60 && minutes <= 71, String(minutes));
});

test('neither a proxy that fails nor a 0 disables', async () => {
  for (const [behaviour, members] of [
    [{ kind: 'proxy' }, {}], [DOWN, { disableAfterHours: 0 }], [DOWN, { disableAfterHours: null }],
  ] as const) {
    const { simulation, hook } = await place(behaviour, members);
    assert.equal(await minutesUntilDisabled(simulation, hook), null);
    assert.equal(storedPeriod(simulation, hook), null);
  }
});

test('an attempt that began before a success, and failed after it, disables nothing', async () => {
  const slow: Behaviour = { kind: 'slow', ms: 90 * MINUTE_MS, status: 500 };
  const { simulation, hook } = await place(slow, { retrySchedule: [] });
  simulation.targets.set('target', UP);
  await simulation.clock.advance(80 * MINUTE_MS);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(MINUTE_MS);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
  await simulation.clock.advance(10 * MINUTE_MS);
  assert.ok(simulation.isEnabled(hook));
});

test('a longer or shorter time holds from the change on', async () => {
  const { simulation, hook } = await place(DOWN, { disableAfterHours: 0 });
  await simulation.clock.advance(600 * MINUTE_MS);
  await simulation.run(
    simulation.webhooks.resources.outgoing.patch(hook, { disableAfterHours: 0.5 }));
  const minutes = await minutesUntilDisabled(simulation, hook) ?? 0;
  assert.ok(minutes >= 30 && minutes <= 41, String(minutes));
});

test('a clock that was set back does not make it longer than its time', async () => {
  const { simulation, hook } = await place(DOWN);
  simulation.clock.setBack(100 * 24 * 60 * MINUTE_MS);
  const minutes = await minutesUntilDisabled(simulation, hook) ?? 0;
  assert.ok(minutes >= 60 && minutes <= 81, String(minutes));
});

test('a webhook that is removed or changed meanwhile is not disabled', async () => {
  const store = createMemoryStore(webhookCollections);
  const hook = { identifier: 'x', disableAfterHours: 1, ...HOOK };
  const nowMs = Date.parse(BEGIN) + 3_600_000;
  const disableFailing = (webhookVersion: string): Promise<string | null> =>
    store.transact((transaction) => disableFailingWebhook(
      transaction, hook, { since: BEGIN, webhookVersion }, nowMs));
  assert.equal(await disableFailing(CHANGED_AT), null);
  await store.transact((transaction) => transaction.put('outgoing-webhooks', 'x', encodeRecord(
    'identifier', 'x', { createdAt: CHANGED_AT, updatedAt: CHANGED_AT }, HOOK)));
  assert.equal(await disableFailing(BEGIN), null);
  assert.equal(await disableFailing(CHANGED_AT), BEGIN);
});
