/** When records of version 1.0 are converted, and by which of several nodes. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLogger } from '../../../src/base/log.ts';
import { isFormerEvent } from '../../../src/webhooks/deliveries/event-record.ts';
import { RecordConversion } from '../../../src/webhooks/deliveries/record-conversion.ts';
import { beginNewForm, keepOldForm } from '../../../src/webhooks/durable-queue/record-form.ts';
import { webhookCollections } from '../../../src/webhooks/webhooks.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { until } from '../../support/until.ts';
import { encodeFormerDelivery, encodeFormerEvent, encodeFormerShare } from './former-records.ts';

const ID = '019ab000-0000-7000-8000-000000000001';
const EVENT = '019ab000-0000-7000-8000-000000000002';
const TURNS = 20;

/** A node, and the log that it shares with nodes of version 1.0, with a record of theirs. */
async function open(context: TestContext, isMaintainer: boolean) {
  const store = createMemoryStore(webhookCollections);
  await keepOldForm(store);
  await store.transact((transaction) =>
    transaction.put('deliveries', ID, encodeFormerDelivery(ID, 'h1')));
  const node = { isMaintainer, tell: () => {}, onWritten: () => {} };
  const conversion = new RecordConversion({
    store, log: silentLogger, ownership: {
      isMaintainer: () => node.isMaintainer,
      onChange(listener) {
        node.tell = listener;
        return () => {};
      },
    },
    fanOuts: {
      onIdle(listener) {
        node.onWritten = listener;
      },
    },
  });
  context.after(() => conversion.close());
  conversion.start();
  return {
    node, conversion, store,
    beginNewForm: () => beginNewForm(store, () => true),
    isConverted: () => store.collection('events').findBytes(ID) !== undefined,
    /** Resolves when what has begun must have come to its end. */
    async settle() {
      for (let turn = 0; turn < TURNS; turn += 1) {
        await new Promise((resolve) => void setImmediate(resolve));
      }
    },
  };
}

test('the maintainer converts records when the new form begins, not before', async (context) => {
  const place = await open(context, true);
  place.node.tell();
  await place.conversion.whenConverted();
  await place.settle();
  assert.equal(place.isConverted(), false);
  await place.beginNewForm();
  await until('it is converted', place.isConverted);
});

test('another node converts them when it becomes the maintainer', async (context) => {
  const place = await open(context, false);
  await place.beginNewForm();
  await place.settle();
  assert.equal(place.isConverted(), false);
  place.node.isMaintainer = true;
  place.node.tell();
  await until('it is converted', place.isConverted);
});

test('who waits for the conversion does what is left of it', async (context) => {
  const place = await open(context, false);
  await place.beginNewForm();
  await place.conversion.whenConverted();
  assert.equal(place.isConverted(), true);
});

for (const isTold of [true, false]) {
  test(`an event whose deliveries were being written is converted ${
    isTold ? 'when they are written' : 'for the next who waits for it'}`, async (context) => {
    const place = await open(context, true);
    const { store, node, conversion } = place;
    await store.transact((transaction) => {
      transaction.put('events', EVENT, encodeFormerEvent(EVENT, [EVENT]));
      transaction.put('fan-outs', EVENT, JSON.stringify({
        identifier: EVENT, seed: EVENT, createdAt: '', event: 'thing.happened', hooks: ['h1'],
      }));
    });
    await place.beginNewForm();
    await conversion.whenConverted();
    const isFormer = (): boolean =>
      isFormerEvent(store.collection('events').findBytes(EVENT) ?? Buffer.from(''));
    assert.deepEqual([place.isConverted(), isFormer()], [true, true]);
    await store.transact((transaction) => {
      transaction.put('deliveries', EVENT, encodeFormerShare(EVENT, 'h1', EVENT));
      transaction.delete('fan-outs', EVENT);
    });
    if (isTold) node.onWritten();
    else await conversion.whenConverted();
    await until('it is converted', () => !isFormer(), { msMax: 10_000 });
  });
}
