import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeUnconditional, findHolders,
} from '../../../src/webhooks/outgoing/token-holders.ts';

const when = { path: 'payload.customer', op: 'eq', value: 'a' };
const [a, b] = ['a', 'b'].map((name) =>
  ({ identifier: name, name, triggerEvents: ['invoice.*'], when }));
const tokens = ['a', 'b', 'c'].map((name) => ({ name, webhooks: [name] }));

for (const [triggerEvents, heardTrigger] of [
  [['invoice.*'], 'invoice.*'],
  [['invoice.paid'], 'invoice.paid'],
  [['invoice.paid.*'], 'invoice.paid.*'],
  [['own.*', '*'], '*'],
  [['delivery.*'], 'delivery.*'],
  [['own.made', 'webhook.disabled'], 'webhook.disabled'],
  [['invoice'], null],
  [['invoices.*', 'own.made'], null],
  [[], null],
] as const) {
  test(`a webhook without a condition on ${triggerEvents.join(', ')} ${
    heardTrigger === null ? 'hears nothing of others' : `hears by ${heardTrigger}`}`, () => {
    const c = { identifier: 'c', name: 'c', triggerEvents };
    assert.ok(a !== undefined && b !== undefined);
    const holders = findHolders([a, b, c], tokens);
    const detail = describeUnconditional(holders, (webhook) => webhook === c);
    assert.equal(detail, heardTrigger === null ? null
      : `webhooks without a condition hear what is not for their token alone: c (${heardTrigger})`);
    assert.equal(describeUnconditional(holders, (webhook) => webhook !== c), null);
    const withCondition = { ...c, when };
    assert.equal(describeUnconditional(findHolders([a, b, withCondition], tokens)), null);
  });
}
