import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeShared, describeSupport, describeUnconditional, findHolders, findSupportNames,
  type TokenBinding,
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

test('a token that sees the webhooks of all hides nobody who hears what is for others', () => {
  assert.ok(a !== undefined && b !== undefined);
  const c = { identifier: 'c', name: 'c', triggerEvents: ['invoice.*'] };
  const support = { name: 'support', webhooks: ['a', 'b', 'c'] };
  const detail = 'webhooks without a condition hear what is not for their token alone: '
    + 'c (invoice.*)';
  assert.equal(describeUnconditional(findHolders([a, b, c], [support, ...tokens])), detail);
  // Nobody but the support sees the other webhook.
  const [tokenOfC] = tokens.slice(2);
  assert.ok(tokenOfC !== undefined);
  assert.equal(describeUnconditional(findHolders([a, c], [support, tokenOfC])), detail);
});

test('who sees all the webhooks that hear the same hears nothing of others', () => {
  assert.ok(a !== undefined);
  const c = { identifier: 'c', name: 'c', triggerEvents: ['invoice.*'] };
  const support = { name: 'support', webhooks: ['a', 'c'] };
  assert.equal(describeUnconditional(findHolders([a, c], [support])), null);
  const [tokenOfA] = tokens;
  assert.ok(tokenOfA !== undefined);
  assert.equal(describeUnconditional(findHolders([a, c], [support, tokenOfA])), null);
});

const hooks = ['acme', 'acme-labs', 'bolt', 'core'].map((name) =>
  ({ identifier: name, name: `customer-${name}`, triggerEvents: ['invoice.*'], when }));
const own = ['acme', 'acme-labs', 'bolt'].map((name) =>
  ({ name, webhooks: [`customer-${name}`, `customer-${name}.*`] }));

/** Says which tokens see the webhooks of all, and which webhooks several tokens see. */
function describeTokens(tokens: readonly TokenBinding[]): readonly (string | null)[] {
  const holders = findHolders(hooks, tokens);
  const supportNames = findSupportNames(holders, tokens);
  return [describeSupport(supportNames), describeShared(holders, supportNames)];
}

for (const [name, tokens, support, shared] of [
  ['the token of a support', [{ name: 'support', webhooks: ['customer-*'] }, ...own],
    '"support" sees', null],
  ['two tokens of a support', [{ name: 'support', webhooks: ['customer-*'] },
    { name: 'audit', webhooks: ['c*'] }, ...own], '"support", "audit" see', null],
  ['a customer who sees one other', [{ name: 'eve', webhooks: ['customer-acme-*'] }, ...own],
    null, 'customer-acme-labs ("eve", "acme-labs")'],
  ['a customer who sees one other beside a support', [{ name: 'support', webhooks: ['c*'] },
    { name: 'eve', webhooks: ['customer-acme-*'] }, ...own],
  '"support" sees', 'customer-acme-labs ("eve", "acme-labs")'],
  ['a customer with a webhook of his own who sees all',
    [{ name: 'eve', webhooks: ['customer-core', 'customer-*'] }, ...own.slice(0, 1)],
    null, 'customer-acme ("eve", "acme")'],
  ['a token of a beginning beside one other', [{ name: 'eve', webhooks: ['c*'] }, ...own.slice(2)],
    null, 'customer-bolt ("eve", "bolt")'],
] as const) {
  test(`${name} is told apart`, () => {
    assert.deepEqual(describeTokens(tokens), [
      support && `${support} the webhooks of all others: no token for a customer`,
      shared && `several tokens see the same webhooks: ${shared}`,
    ]);
  });
}

test('many webhooks and tokens are compared in time that grows as they do', () => {
  const names = Array.from({ length: 4000 }, (_, index) => `customer-${index}`);
  const manyHooks = names.map((name) => ({
    identifier: name, name, triggerEvents: [1, 2, 3, 4, 5].map((part) => `${name}.${part}.*`),
  }));
  const manyTokens = names.map((name) => ({ name, webhooks: [name, `${name}.*`] }));
  const start = process.cpuUsage();
  assert.equal(describeUnconditional(findHolders(manyHooks, manyTokens)), null);
  // Each with each takes a minute.
  assert.ok(process.cpuUsage(start).user < 5_000_000);
});

test('webhooks that the same tokens see have one set of their names', () => {
  const sharedHooks = ['acme-1', 'acme-2'].map((name) => ({ identifier: name, name }));
  const sharers = ['ann', 'bob'].map((name) => ({ name, webhooks: ['acme-*'] }));
  const [first, second] = findHolders(sharedHooks, sharers).values();
  assert.deepEqual([...first ?? []], ['"ann"', '"bob"']);
  assert.equal(first, second, 'a set for each held 990,000 names');
});

test('holders stand in the order of the tokens, and so do the names of each', () => {
  const hooks = ['zoo-1', 'acme-1'].map((name) => ({ identifier: name, name }));
  const bindings = [
    { name: 'ann', webhooks: ['acme-*'] }, { name: 'bob', webhooks: ['acme-1', 'zoo-1'] },
    { name: 'eve', webhooks: ['acme-*'] },
  ];
  const found = [...findHolders(hooks, bindings)].map(([{ name }, names]) => [name, [...names]]);
  assert.deepEqual(found, [['acme-1', ['"ann"', '"bob"', '"eve"']], ['zoo-1', ['"bob"']]]);
});
