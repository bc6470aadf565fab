/** An action that configurations and webhooks name, and that this process does not have. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { encodeJson } from '../../../src/base/json/encode.ts';
import { startRelayFor, type Relay } from '../relay.ts';

/** A relay whose configuration `ship` runs an action that was there when it was stored. */
async function startWithout(context: TestContext, actionType: string): Promise<Relay> {
  const relay = await startRelayFor(context);
  const made = await relay.hook({ identifier: 'ship', actionType: 'log' });
  assert.equal(made.status, 201, made.text);
  const collection = 'action-configurations';
  const stored = JSON.parse(String(relay.store.collection(collection).findBytes('ship')));
  await relay.store.transact((transaction) =>
    transaction.put(collection, 'ship', encodeJson({ ...stored, actionType })));
  return relay;
}

function findWarnings({ logLines }: Relay): readonly string[] {
  return logLines.filter((line) => line.includes('"actions are not there that'));
}

const SHOP = { name: 'shop', targetUrl: 'http://a.example/', actionConfiguration: 'ship' };

test('one line at the start names each action with its webhooks', async (context) => {
  const relay = await startWithout(context, 'log');
  await relay.ask('POST', '/api/outgoing-webhooks', SHOP);
  relay.webhooks.start();
  assert.deepEqual(findWarnings(relay), [], 'the action is there');
  const bare = await startWithout(context, 'deploy');
  await bare.ask('POST', '/api/outgoing-webhooks', SHOP);
  await bare.ask('POST', '/api/action-configurations', { identifier: 'own', actionType: 'log' });
  bare.webhooks.start();
  const lines = findWarnings(bare);
  assert.equal(lines.length, 1);
  const { level, count, configurations } = JSON.parse(lines[0] ?? '');
  assert.deepEqual([level, count, configurations],
    ['warning', 1, ['ship (deploy), for hook, shop']]);
});

test('the health of a webhook names the missing action, and its caller does not hear it',
  async (context) => {
    const relay = await startWithout(context, 'run-command');
    const { status, json } = await relay.ask('POST', '/webhook/in/hook', {});
    assert.deepEqual([status, json['message']], [400, 'Action failed']);
    const shown = await relay.ask('GET', '/api/incoming-webhooks/hook');
    const { lastFailure } = shown.json['health'] as { lastFailure: { reason: string } };
    assert.equal(lastFailure.reason, 'The action run-command is not there');
  });
