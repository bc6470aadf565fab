import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALL_OUTGOING, createDeliveryFields,
} from '../../../src/webhooks/deliveries/delivery-fields.ts';
import { changeItem } from '../../../src/webhooks/work/change-items.ts';
import { deliverySpec, stageDelivery } from '../../../src/webhooks/deliveries/delivery-changes.ts';
import { decodeDelivery } from '../../../src/webhooks/deliveries/delivery-codec.ts';
import {
  createDelivery, endIfPending, type DeliveryStatus,
} from '../../../src/webhooks/deliveries/delivery.ts';
import { RecordList } from '../../../src/webhooks/records/record-list.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { Simulation, UP } from './sending/simulation.ts';

test("a list by hook holds that hook's deliveries, whatever another's payload says", async () => {
  const simulation = new Simulation();
  simulation.targets.set('sought', { kind: 'answer', status: 500 });
  simulation.targets.set('other', { kind: 'answer', status: 500 });
  const hook = await simulation.addHook('sought', { triggerEvent: 'sought' });
  await simulation.addHook('other', { triggerEvent: 'other' });
  const { deliveries } = simulation.webhooks;
  const filter = { ...ALL_OUTGOING, hook };
  const [own = ''] = await simulation.emit({ hook: 'other' }, 'sought');
  await simulation.emit({ hook, deep: [{ hook }] }, 'other');
  await simulation.run(deliveries.queueForward({
    url: 'http://other/', method: 'POST', headers: { hook }, body: null,
  }));
  const found = async (): Promise<unknown> => [
    (await deliveries.list(filter, null, 10)).map(({ identifier }) => identifier),
    await deliveries.count(filter),
  ];
  assert.deepEqual(await found(), [[own], 1]);
  // With attempts before the payload, then without one.
  await simulation.clock.advance(60_000);
  assert.deepEqual(await found(), [[own], 1]);
  simulation.targets.set('sought', UP);
  await simulation.clock.advance(3_600_000);
  assert.equal(simulation.delivery(own)?.status, 'delivered');
  assert.deepEqual(await found(), [[own], 1]);
});

test('a list by status has what has become of a delivery since the last list', async () => {
  const simulation = new Simulation();
  await simulation.addHook('a', {}, { kind: 'answer', status: 500 });
  const { deliveries } = simulation.webhooks;
  const [own = ''] = await simulation.emit();
  const list = async (status: DeliveryStatus): Promise<unknown> =>
    (await deliveries.list({ ...ALL_OUTGOING, kind: null, status }, null, 10))
      .map(({ identifier }) => identifier);
  assert.deepEqual([await list('pending'), await list('delivered')], [[own], []]);
  simulation.targets.set('a', UP);
  await simulation.clock.advance(3_600_000);
  assert.deepEqual([await list('pending'), await list('delivered')], [[], [own]]);
  assert.equal(await deliveries.count({ ...ALL_OUTGOING, kind: null, status: 'delivered' }), 1);
});

test('a list has no delivery that ceased to match while the list was made', async () => {
  const at = '2026-01-01T00:00:00.000Z';
  const store = createMemoryStore(webhookCollections);
  const list = new RecordList(store, 'deliveries',
    { fields: createDeliveryFields(() => null), decode: decodeDelivery });
  const ids = Array.from({ length: 5000 }, (_, index) => String(index).padStart(4, '0'));
  const lastId = ids.at(-1) ?? '';
  await store.transact((transaction) => {
    for (const identifier of ids) {
      const item = createDelivery({ identifier, hook: 'h', event: 'a', eventId: 'e' }, at);
      const isLast = identifier === lastId;
      stageDelivery(transaction,
        isLast ? item : { ...item, status: 'delivered', nextAttemptAt: null });
    }
  });
  // This has the columns built.
  await list.count(ALL_OUTGOING);
  const listing = list.page({ ...ALL_OUTGOING, status: 'pending' },
    { after: null, limit: 10, isNewestFirst: false, decode: decodeDelivery });
  // It was the only pending one, and is the only failed one from now on.
  await store.transact((transaction) => changeItem(deliverySpec, transaction, lastId,
    (before) => endIfPending(before, 'failed', Date.parse(at))));
  assert.deepEqual((await listing).map(({ identifier }) => identifier), []);
});

test('the books balance though deliveries arrive while messages are looked through', async () => {
  const simulation = new Simulation();
  for (const host of ['a', 'b']) {
    await simulation.addHook(host, {}, { kind: 'answer', status: 500 });
  }
  const { deliveries } = simulation.webhooks;
  for (let count = 0; count < 10; count += 1) await simulation.emit('x'.repeat(1 << 20));
  const reconciling = deliveries.reconcile();
  // It has looked through the deliveries, which are small, and not through all the messages.
  const arriving = simulation.emit();
  const { problems, pending } = await reconciling;
  assert.deepEqual([problems, pending], [[], 22]);
  assert.equal((await arriving).length, 2);
});
