import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/base/errors.ts';
import { encodeForward } from '../../../../src/webhooks/deliveries/queued-forward.ts';
import { createActionClass } from '../../context.ts';
import { DOWN, Simulation, UP } from './simulation.ts';

const HOUR_MS = 3_600_000;
const secret = 's';
let runs = 0;

const Counted = createActionClass('counted', (payload: { isBad?: boolean }) => {
  runs += 1;
  return payload.isBad === true
    ? { success: false, message: 'bad' } : { success: true, data: { run: runs } };
});

let linger = (): Promise<void> => assert.fail();

const Lingering = createActionClass('lingering', async () => {
  await linger();
  return { success: true };
});

async function withAction(): Promise<Simulation> {
  const simulation = new Simulation({ actions: [Counted] });
  const { configurations } = simulation.webhooks.resources;
  await simulation.run(configurations.add({ identifier: 'counted', actionType: 'counted' }));
  await simulation.addHook('target', {
    secret, actionConfiguration: 'counted', payloadTemplate: '{"n": "{{ run }}"}',
  });
  runs = 0;
  return simulation;
}

test('action and template run once; retries send the same bytes, through a crash too', async () => {
  const simulation = await withAction();
  simulation.targets.set('target', DOWN);
  const [id = ''] = await simulation.emit();
  await simulation.clock.advance(1000);
  await simulation.crash();
  simulation.targets.set('target', UP);
  await simulation.clock.advance(10_000);
  assert.deepEqual(simulation.requestsOf(id).map(({ body }) => body), ['{"n": 1}', '{"n": 1}']);
  assert.equal(runs, 1);
});

test('a failing action is a failed attempt, and nothing goes out', async () => {
  const simulation = await withAction();
  const [id = ''] = await simulation.emit({ isBad: true });
  await simulation.clock.advance(10_000);
  assert.equal(simulation.requests.length, 0);
  assert.deepEqual(simulation.delivery(id)?.attempts.map(({ error }) => error),
    ['the action failed: bad', 'the action failed: bad']);
});

test('a queued forward is made durably, and no hook has it', async () => {
  const simulation = new Simulation();
  simulation.targets.set('there', DOWN);
  const body = '{ "a" :\n1 }';
  const forward = {
    url: 'http://there/x', method: 'PUT', headers: { 'x-a': 'b' }, body: Buffer.from(body),
  };
  const id = await simulation.run(simulation.webhooks.deliveries.queueForward(forward));
  await simulation.clock.advance(1000);
  await simulation.crash();
  simulation.targets.set('there', UP);
  await simulation.clock.advance(HOUR_MS);
  assert.deepEqual(simulation.requests.map(({ body: sent, headers }) => [sent, headers['x-a']]),
    [[body, 'b'], [body, 'b']]);
  assert.equal(simulation.delivery(id)?.hook, null);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

test('a webhook whose action is slow leaves places to the others', async () => {
  const simulation = new Simulation({
    actions: [Lingering], outgoing: { maxInFlight: 16, maxInFlightPerHook: 8 },
  });
  const { resources: { configurations } } = simulation.webhooks;
  const members = { identifier: 'lingering', actionType: 'lingering' };
  await simulation.run(configurations.add(members));
  linger = () => new Promise((resolve) => void simulation.clock.startTimer(1500, resolve));
  await simulation.addHook('well', { secret, triggerEvent: 'well' });
  for (const host of ['slow-0', 'slow-1']) {
    await simulation.addHook(host, {
      secret, triggerEvent: 'slow', actionConfiguration: 'lingering',
    });
  }
  await simulation.emit({}, 'well');
  for (let count = 0; count < 100; count += 1) await simulation.emit({}, 'slow');
  await simulation.clock.advance(5000);
  const [id = ''] = await simulation.emit({}, 'well');
  await simulation.clock.advance(100);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
});

test('a stop waits for what is under way, and cuts it off as not made', async () => {
  for (const kind of ['slow', 'hang'] as const) {
    const simulation = new Simulation();
    await simulation.addHook('target', { secret }, kind === 'hang' ? { kind } : { kind, ms: 3000 });
    const [id = ''] = await simulation.emit();
    assert.equal(simulation.underWay.length, 1);
    const closed = simulation.webhooks.close(10_000);
    await simulation.clock.advance(11_000);
    await closed;
    const delivery = simulation.delivery(id);
    assert.equal(delivery?.status, kind === 'hang' ? 'pending' : 'delivered');
    assert.equal(delivery.attempts.length, kind === 'hang' ? 0 : 1);
  }
});

test('a result that cannot be written now is written later, not sent again', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', { secret }, { kind: 'slow', ms: 100 });
  const [id = ''] = await simulation.emit();
  for (let count = 0; count < 3; count += 1) {
    simulation.store.failNextBatch(new AppError('storage_full', 'full'));
    await simulation.clock.advance(1000);
    assert.equal(simulation.delivery(id)?.status, 'pending');
  }
  await simulation.clock.advance(5000);
  assert.equal(simulation.delivery(id)?.status, 'delivered');
  assert.equal(simulation.requestsOf(id).length, 1);
});

test('what is old, or too many, is removed, and the books still balance', async () => {
  const simulation = new Simulation({
    outgoing: {
      retentionCount: 5, retentionMs: 10 * HOUR_MS, failedRetentionMs: 20 * HOUR_MS,
      retrySchedule: [],
    },
    events: { retentionMs: 20 * HOUR_MS },
  });
  await simulation.addHook('target', { secret });
  const ids: string[] = [];
  for (let count = 0; count < 20; count += 1) {
    ids.push(...await simulation.emit());
    await simulation.clock.advance(100);
  }
  const kept = (): string[] => ids.filter((id) => simulation.delivery(id) !== undefined);
  assert.deepEqual(kept(), ids.slice(-5));
  simulation.targets.set('target', DOWN);
  ids.push(...await simulation.emit());
  await simulation.clock.advance(11 * HOUR_MS);
  assert.deepEqual(kept(), ids.slice(-1));
  await simulation.clock.advance(10 * HOUR_MS);
  assert.deepEqual(kept(), []);
  const books = await simulation.run(simulation.webhooks.deliveries.reconcile());
  assert.deepEqual([books.accepted, books.agedOut, books.problems], [21, 21, []]);
  assert.equal(simulation.store.collection('events').size, 0);
});

for (const size of [1000, 50_000]) {
  for (const hooks of [1, 3]) {
    test(`what is kept of ${hooks} × ${size} bytes stays below its limit in bytes`, async () => {
      const retentionBytes = 10 * size * hooks;
      const simulation = new Simulation({ outgoing: { retentionBytes }, events: { bytesMax: 0 } });
      for (let count = 0; count < hooks; count += 1) await simulation.addHook(`target${count}`);
      const ids: string[] = [];
      const keptBytes = (): number => ['deliveries', 'events'].map((name) =>
        simulation.store.collection(name).bytesTotal).reduce((sum, bytes) => sum + bytes, 0);
      for (let count = 0; count < 40 * hooks; count += 1) {
        ids.push(...await simulation.emit('x'.repeat(size)));
        await simulation.clock.advance(1000);
        assert.ok(keptBytes() < retentionBytes + 10_000, String(keptBytes()));
      }
      const kept = ids.filter((id) => simulation.delivery(id) !== undefined);
      assert.deepEqual(kept, ids.slice(-kept.length));
      assert.ok(keptBytes() > retentionBytes / 2, String(keptBytes()));
      await simulation.crash();
      await simulation.clock.advance(1000);
      assert.ok(keptBytes() > retentionBytes / 2, String(keptBytes()));
      const books = await simulation.run(simulation.webhooks.deliveries.reconcile());
      assert.deepEqual(books.problems, []);
    });
  }
}

test('what was lost or made up is named by the reconciliation', async () => {
  const simulation = new Simulation();
  await simulation.addHook('target', {}, DOWN);
  await simulation.emit();
  // A second one that hears it: now they share a message.
  await simulation.addHook('target', { triggerEvent: 'thing.happened' });
  const [id = '', other = ''] = await simulation.emit();
  await simulation.run(simulation.store.transact((transaction) => {
    transaction.delete('events', simulation.delivery(id)?.eventId ?? '');
    const forward = encodeForward({ identifier: 'stray', createdAt: '' }, {
      url: 'http://there/', method: 'POST', headers: {}, body: null,
    });
    transaction.put('events', 'stray', forward);
    transaction.put('delivery-bodies', 'y', '{"identifier":"y","bodyText":"b"}');
  }));
  const { problems } = await simulation.run(simulation.webhooks.deliveries.reconcile());
  assert.deepEqual(problems, [
    `pending delivery ${id} has lost its payload`,
    `pending delivery ${other} has lost its payload`, 'payload stray belongs to no delivery',
    'body y belongs to no delivery',
  ]);
});

test('a target that is gone is asked no more while all that waits for it fails', async () => {
  const simulation = new Simulation({ outgoing: { maxInFlightPerHook: 1 } });
  const hook = await simulation.addHook('target', {}, DOWN);
  for (let count = 0; count < 1100; count += 1) await simulation.emit();
  await simulation.clock.advance(60_000);
  simulation.targets.set('target', { kind: 'answer', status: 410 });
  const count = simulation.requests.length;
  await simulation.clock.advance(HOUR_MS);
  assert.equal(simulation.requests.length - count, 1);
  assert.equal(simulation.webhooks.deliveries.totals().failed, 1100);
  await simulation.run(simulation.webhooks.resources.outgoing.patch(hook, { enabled: true }));
  simulation.targets.set('target', UP);
  await simulation.run(simulation.webhooks.deliveries.retryFailed());
  await simulation.clock.advance(HOUR_MS);
  assert.equal(simulation.webhooks.deliveries.totals().delivered, 1100);
});

test('what is asked for again while its attempt is under way waits for its end', async () => {
  const simulation = new Simulation({ outgoing: { retrySchedule: [] } });
  const hook = await simulation.addHook('target', { secret }, { kind: 'slow', ms: 5000 });
  const [slow = ''] = await simulation.emit();
  simulation.targets.set('target', { kind: 'answer', status: 410 });
  await simulation.emit();
  await simulation.clock.advance(1000);
  assert.equal(simulation.delivery(slow)?.status, 'failed');
  const { deliveries, resources } = simulation.webhooks;
  await simulation.run(resources.outgoing.patch(hook, { enabled: true }));
  simulation.targets.set('target', UP);
  await simulation.run(deliveries.retry(slow));
  await simulation.clock.advance(1000);
  assert.equal(simulation.requestsOf(slow).length, 1);
  await simulation.clock.advance(10_000);
  assert.equal(simulation.delivery(slow)?.status, 'delivered');
  assert.equal(simulation.requestsOf(slow).length, 1);
});

for (const maxInFlightPerHost of [64, 1]) {
  test(`a webhook that never answers holds a neighbour at its host (of ${maxInFlightPerHost}) for `
    + 'one time-out at the most, and what waits says for whom', async () => {
    const simulation = new Simulation({ outgoing: { maxInFlightPerHost } });
    const silent = await simulation.addHook('shared', {
      secret, targetUrl: 'http://shared/slow', triggerEvent: 'slow',
    });
    const well = await simulation.addHook('shared', {
      secret, targetUrl: 'http://shared/ok', triggerEvent: 'ok',
    });
    simulation.targets.set('shared/slow', { kind: 'timeOut', ms: 30_000 });
    for (let count = 0; count < 40; count += 1) await simulation.emit({}, 'slow');
    const waitsFor = (hook: string): unknown => JSON.parse(
      simulation.webhooks.resources.outgoing.find(hook)?.bytes.toString() ?? '').health.waitsFor;
    for (let count = 0; count < 5; count += 1) {
      const [id = ''] = await simulation.emit({}, 'ok');
      const since = new Date(simulation.clock.now()).toISOString();
      await simulation.clock.advance(4000);
      assert.equal(waitsFor(well), null);
      await simulation.clock.advance(1000);
      const isHeld = simulation.delivery(id)?.status === 'pending';
      assert.equal(isHeld, maxInFlightPerHost === 1);
      const wait = { target: 'shared', since, behind: [silent] };
      assert.deepEqual(waitsFor(well), isHeld ? wait : null);
      const waits = isHeld ? [{ hook: well, ...wait }] : [];
      assert.deepEqual(simulation.webhooks.listHostWaits(), waits);
      await simulation.clock.advance(25_100);
      assert.equal(simulation.delivery(id)?.status, 'delivered');
    }
  });
}
