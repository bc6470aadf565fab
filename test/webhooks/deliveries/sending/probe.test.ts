/** A webhook with `probe` that is off for failing is tried once an hour, until it works again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALL_OWNED, type Ownership } from '../../../../src/webhooks/work/ownership.ts';
import { ScriptedOwnership } from '../../work/scripted-ownership.ts';
import { DOWN, Simulation, UP, type Behaviour } from './simulation.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SCHEDULE = [600, 600, 600, 600, 600, 600, 600, 36_000];

type Shown = {
  readonly enabled: boolean; readonly disabledReason?: string;
  readonly health: { readonly state: string; readonly nextProbeAt?: string };
};

type Place = {
  readonly simulation: Simulation;
  readonly hook: string;
  /** The delivery that has failed for an hour. */
  readonly id: string;
  shown(): Shown;
  patch(members: object): Promise<unknown>;
};

function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => { open = resolve; });
  return { opened, open };
}

/** A webhook that is off, as its target was down for an hour, and is probed. */
async function placeProbed(members: object = {}, ownership: Ownership = ALL_OWNED): Promise<Place> {
  const simulation = new Simulation({ ownership });
  const hook = await simulation.addHook('target', {
    secret: 'a secret', retrySchedule: SCHEDULE, disableAfterHours: 1, probe: true, ...members,
  }, DOWN);
  if (ownership instanceof ScriptedOwnership) ownership.gain(hook);
  const shown = (): Shown => {
    const record = simulation.webhooks.resources.outgoing.find(hook);
    return JSON.parse(record?.bytes.toString() ?? '{}') as Shown;
  };
  const [id = ''] = await simulation.emit();
  for (let minutes = 0; minutes < 90 && shown().enabled; minutes += 1) {
    await simulation.clock.advance(MINUTE_MS);
  }
  assert.equal(shown().disabledReason, 'failing');
  return {
    simulation, hook, id, shown,
    patch: (change) => simulation.run(simulation.webhooks.resources.outgoing.patch(hook, change)),
  };
}

test('the oldest delivery is tried once an hour, and its schedule is not used up', async () => {
  const { simulation, id, shown } = await placeProbed();
  const [second = ''] = await simulation.emit();
  const { failures, attempts, nextAttemptAt } = simulation.delivery(id) ?? {};
  const before = simulation.requests.length;
  assert.equal(shown().health.state, 'off');
  await simulation.clock.advance(20 * HOUR_MS);
  assert.ok([19, 20].includes(simulation.requests.length - before));
  const gaps = simulation.requestsOf(id).slice(-19).map(({ atMs }) => atMs)
    .map((atMs, index, all) => atMs - (all[index - 1] ?? atMs)).slice(1);
  assert.deepEqual(gaps, new Array(18).fill(HOUR_MS));
  const after = simulation.delivery(id);
  assert.deepEqual([after?.status, after?.failures, after?.nextAttemptAt],
    ['pending', failures, nextAttemptAt]);
  assert.ok((after?.attempts.length ?? 0) >= (attempts?.length ?? 0) + 19);
  assert.deepEqual([simulation.requestsOf(second).length, simulation.delivery(second)?.status],
    [0, 'pending']);
});

test('when one succeeds the webhook goes on, and what waited follows in order', async () => {
  const { simulation, id, shown } = await placeProbed({ maxInFlight: 1 });
  const ids = [id];
  for (let count = 0; count < 5; count += 1) ids.push(...await simulation.emit({ count }));
  simulation.targets.set('target', UP);
  await simulation.clock.advance(HOUR_MS + MINUTE_MS);
  const { enabled, disabledReason, health } = shown();
  assert.deepEqual([enabled, disabledReason, health.nextProbeAt], [true, undefined, undefined]);
  assert.equal(health.state, 'healthy');
  assert.deepEqual(
    simulation.requests.filter(({ result }) => result === 200).map((request) => request.id), ids);
  assert.ok(simulation.logLines.some((line) => line.includes('is on again')));
  const [later = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  assert.equal(simulation.delivery(later)?.status, 'delivered');
});

test('it is shown when the next probe is', async () => {
  const { simulation, shown } = await placeProbed();
  const { nextProbeAt = '' } = shown().health;
  const before = simulation.requests.length;
  await simulation.clock.advance(Date.parse(nextProbeAt) - simulation.clock.now() - 1);
  assert.equal(simulation.requests.length, before);
  await simulation.clock.advance(1);
  assert.equal(simulation.requests.length, before + 1);
  assert.equal(Date.parse(shown().health.nextProbeAt ?? ''), Date.parse(nextProbeAt) + HOUR_MS);
});

test('crashes make no probe sooner, and lose none', async () => {
  const { simulation, id } = await placeProbed();
  const before = simulation.requestsOf(id).length;
  for (let crashes = 0; crashes < 40; crashes += 1) {
    await simulation.clock.advance(11 * MINUTE_MS);
    await simulation.crash();
  }
  assert.equal(simulation.requestsOf(id).length - before, 7);
  simulation.targets.set('target', UP);
  await simulation.clock.advance(HOUR_MS);
  await simulation.crash();
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

for (const isCrash of [false, true]) {
  test(`a clock set back by years ${isCrash ? 'and a crash ' : ''}ends no probes`, async () => {
    const { simulation, id } = await placeProbed();
    await simulation.clock.advance(HOUR_MS);
    simulation.clock.setBack(4 * 365 * 24 * HOUR_MS);
    if (isCrash) await simulation.crash();
    const before = simulation.requestsOf(id).length;
    await simulation.clock.advance(5 * HOUR_MS + MINUTE_MS);
    const times = simulation.requestsOf(id).slice(before).map(({ atMs }) => atMs);
    assert.ok([5, 6].includes(times.length), `${times.length}`);
    for (const [index, atMs] of times.slice(1).entries()) {
      assert.ok(atMs - (times[index] ?? 0) >= HOUR_MS - MINUTE_MS);
    }
  });
}

test('a webhook that is off without a delivery tries the first that comes', async () => {
  const { simulation, id, shown } = await placeProbed();
  await simulation.run(simulation.webhooks.deliveries.cancel(id));
  await simulation.clock.advance(5 * HOUR_MS);
  simulation.targets.set('target', UP);
  const [next = ''] = await simulation.emit();
  await simulation.clock.advance(2 * MINUTE_MS);
  assert.equal(simulation.delivery(next)?.status, 'delivered');
  assert.equal(shown().enabled, true);
});

test('a 410 ends the probes: the deliveries fail, and nothing is tried any more', async () => {
  const { simulation, id, shown } = await placeProbed();
  const [second = ''] = await simulation.emit();
  simulation.targets.set('target', { kind: 'answer', status: 410 });
  await simulation.clock.advance(HOUR_MS + 1000);
  assert.deepEqual([shown().enabled, shown().disabledReason], [false, 'gone']);
  assert.equal(shown().health.nextProbeAt, undefined);
  for (const each of [id, second]) assert.equal(simulation.delivery(each)?.status, 'failed');
  const before = simulation.requests.length;
  await simulation.clock.advance(10 * HOUR_MS);
  assert.equal(simulation.requests.length, before);
  assert.deepEqual(await simulation.emit(), []);
});

for (const [title, reach] of [
  ['is off by hand', async ({ patch }: Place) => { await patch({ enabled: false }); }],
  ['has no probe any more', async ({ patch }: Place) => { await patch({ probe: null }); }],
] as const) {
  test(`a webhook that ${title} is not probed, and no event queues for it`, async () => {
    const place = await placeProbed();
    await reach(place);
    const { simulation, shown } = place;
    const before = simulation.requests.length;
    await simulation.clock.advance(10 * HOUR_MS);
    assert.equal(simulation.requests.length, before);
    assert.deepEqual(await simulation.emit(), []);
    assert.deepEqual([shown().enabled, shown().health.nextProbeAt], [false, undefined]);
  });
}

test('another change, or the record sent back, leaves it probed; enabling ends that', async () => {
  const { simulation, hook, id, shown, patch } = await placeProbed();
  await patch({ description: 'another' });
  assert.deepEqual([shown().enabled, shown().disabledReason], [false, 'failing']);
  await simulation.run(simulation.webhooks.resources.outgoing.replace(hook, shown()));
  assert.notEqual(shown().health.nextProbeAt, undefined);
  const before = simulation.requestsOf(id).length;
  await simulation.clock.advance(2 * HOUR_MS);
  assert.ok(simulation.requestsOf(id).length > before);
  simulation.targets.set('target', UP);
  await patch({ enabled: true });
  await simulation.clock.advance(10 * HOUR_MS);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

const TIMES: readonly (readonly [string, Behaviour, string, number])[] = [
  ['a proxy that fails is asked again within minutes', { kind: 'proxy' }, 'pending', 50],
  ['a status that retryOn leaves out fails the delivery', { kind: 'answer', status: 404 },
    'failed', 1],
];

for (const [title, behaviour, status, countMin] of TIMES) {
  test(`while it is probed, ${title}`, async () => {
    const { simulation, id, shown } = await placeProbed({ retryOn: ['5xx'] });
    simulation.targets.set('target', behaviour);
    const before = simulation.requestsOf(id).length;
    await simulation.clock.advance(2 * HOUR_MS);
    assert.equal(simulation.delivery(id)?.status, status);
    assert.ok(simulation.requestsOf(id).length >= before + countMin);
    assert.equal(shown().disabledReason, 'failing');
  });
}

test('a probe that hangs is alone, also when its delivery was cancelled', async () => {
  const { simulation, id } = await placeProbed();
  await simulation.emit();
  // A target that gives answers may have several attempts at once.
  simulation.targets.set('target', { kind: 'answer', status: 500 });
  await simulation.clock.advance(HOUR_MS + 1000);
  simulation.targets.set('target', { kind: 'hang' });
  await simulation.clock.advance(5 * HOUR_MS);
  assert.equal(simulation.underWay.length, 1);
  await simulation.run(simulation.webhooks.deliveries.cancel(id));
  await simulation.clock.advance(HOUR_MS);
  assert.equal(simulation.underWay.length, 1);
});

test('the node that owns the webhook probes it', async () => {
  const ownership = new ScriptedOwnership();
  const { simulation, hook, id } = await placeProbed({}, ownership);
  ownership.lose(hook);
  const before = simulation.requestsOf(id).length;
  await simulation.clock.advance(5 * HOUR_MS);
  assert.equal(simulation.requestsOf(id).length, before);
  ownership.gain(hook);
  await simulation.clock.advance(HOUR_MS - 1000);
  assert.equal(simulation.requestsOf(id).length, before + 1);
});

test('a webhook with a key in its order tries its oldest delivery, too', async () => {
  const { simulation, id } = await placeProbed({ order: { key: 'payload.key' } });
  for (const key of ['a', 'b', 'a']) await simulation.emit({ key });
  simulation.targets.set('target', UP);
  await simulation.clock.advance(HOUR_MS + MINUTE_MS);
  assert.equal(simulation.requests.find(({ result }) => result === 200)?.id, id);
  assert.equal(simulation.requests.filter(({ result }) => result === 200).length, 4);
});

test('a probe whose webhook is enabled meanwhile uses up nothing of the schedule', async () => {
  const { simulation, id, patch } = await placeProbed();
  const before = simulation.delivery(id)?.failures;
  simulation.targets.set('target', { kind: 'slow', ms: 10 * MINUTE_MS, status: 500 });
  await simulation.clock.advance(HOUR_MS + 1000);
  assert.equal(simulation.underWay.length, 1);
  await patch({ enabled: true });
  simulation.targets.set('target', { kind: 'hang' });
  await simulation.clock.advance(10 * MINUTE_MS);
  assert.equal(simulation.requestsOf(id).at(-2)?.result, 500);
  assert.deepEqual(
    [simulation.delivery(id)?.status, simulation.delivery(id)?.failures], ['pending', before]);
});

test('a delivery that arrives as another disables the webhook switches it on again', async () => {
  const simulation = new Simulation();
  const hook = await simulation.addHook('target', {
    secret: 'a secret', retrySchedule: SCHEDULE, disableAfterHours: 1, probe: true,
  }, { kind: 'answer', status: 500 });
  await simulation.emit();
  await simulation.clock.advance(55 * MINUTE_MS);
  simulation.targets.set('target', { kind: 'slow', ms: 10 * MINUTE_MS, status: 500 });
  await simulation.clock.advance(7 * MINUTE_MS);
  simulation.targets.set('target', { kind: 'slow', ms: 10 * MINUTE_MS });
  await simulation.emit();
  await simulation.clock.advance(0);
  assert.equal(simulation.underWay.length, 2);
  const { store } = simulation;
  const { transact } = store;
  const gate = createGate();
  store.transact = (prepare) => gate.opened.then(() => transact.call(store, prepare)) as never;
  await simulation.clock.advance(11 * MINUTE_MS);
  store.transact = transact;
  gate.open();
  await simulation.clock.advance(1000);
  assert.ok(simulation.logLines.some((line) => line.includes('webhook was disabled')));
  const record = simulation.webhooks.resources.outgoing.find(hook);
  assert.equal(JSON.parse(String(record?.bytes)).enabled, true);
});

test('the record as read while probed switches off no webhook that is on again', async () => {
  const { simulation, hook, shown } = await placeProbed();
  const stale = shown();
  simulation.targets.set('target', UP);
  await simulation.clock.advance(HOUR_MS + 1000);
  const { outgoing } = simulation.webhooks.resources;
  await simulation.run(outgoing.replace(hook, stale));
  assert.deepEqual([shown().enabled, shown().disabledReason], [true, undefined]);
  await simulation.run(outgoing.replace(hook, { ...shown(), enabled: false }));
  assert.deepEqual([shown().enabled, shown().disabledReason], [false, 'manual']);
});

test('a probe that succeeds switches the webhook on, though its delivery is gone', async () => {
  const { simulation, id, shown } = await placeProbed();
  simulation.targets.set('target', { kind: 'slow', ms: 5000 });
  await simulation.clock.advance(HOUR_MS + 1000);
  assert.equal(simulation.underWay.length, 1);
  await simulation.run(simulation.store.transact(
    (transaction) => transaction.delete('deliveries', id)));
  await simulation.clock.advance(6000);
  assert.deepEqual([shown().enabled, shown().disabledReason], [true, undefined]);
});

test('probes that are due at once begin apart, as each looks through all deliveries', async () => {
  const { simulation } = await placeProbed();
  for (let count = 0; count < 20; count += 1) {
    // A target that is down is tried alone: each webhook has its own.
    await simulation.addHook(`target${count}`, {
      secret: 'a secret', retrySchedule: SCHEDULE, disableAfterHours: 1, probe: true,
    }, DOWN);
  }
  await simulation.emit();
  await simulation.clock.advance(2 * HOUR_MS);
  simulation.clock.standStill(2 * HOUR_MS);
  const before = simulation.requests.length;
  await simulation.clock.advance(MINUTE_MS);
  const times = simulation.requests.slice(before).map(({ atMs }) => atMs);
  assert.equal(times.length, 21);
  for (const [index, atMs] of times.slice(1).entries()) {
    assert.ok(atMs - (times[index] ?? 0) >= 100, `${times.join(' ')}`);
  }
});
