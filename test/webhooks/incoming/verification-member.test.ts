import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareSenderVerifier } from '../../../src/webhooks/incoming/verification-member.ts';
import { startRelayFor } from '../relay.ts';

test('a webhook with a preset of a later version accepts nothing', () => {
  const { preset, verifier } =
    prepareSenderVerifier({ verification: { preset: 'later' }, secret: 'any' }) ?? {};
  assert.equal(preset?.name, 'later');
  assert.match(String(verifier?.problem?.finding), /this version knows no preset "later"/);
});

test('no request is made up for a preset of a later version, and a diagnosis names it',
  async (context) => {
    const relay = await startRelayFor(context);
    const { json } = await relay.hook(
      { actionType: 'log' }, { secret: 'any', verification: { preset: 'github' } });
    const id = String(json['identifier']);
    await relay.store.transact((transaction) => {
      const record = String(transaction.find('incoming-webhooks', id));
      transaction.put('incoming-webhooks', id, record.replace('"github"', '"later"'));
    });
    const path = `/api/incoming-webhooks/${id}`;
    const reason = /this version knows no preset .*later/;
    const examples = await relay.ask('GET', `${path}/examples`);
    const { curl, setup, curlObstacle } = examples.json;
    assert.deepEqual([curl, setup, curlObstacle],
      [null, null, 'this version does not know the preset']);
    const sample = await relay.ask('POST', `${path}/sample`, {});
    assert.equal(sample.status, 422);
    assert.match(sample.text, reason);
    const diagnosis = await relay.ask('POST', `${path}/diagnose`, { headers: {} });
    assert.equal(diagnosis.json['failedCheck'], 'configuration');
    assert.match(diagnosis.text, reason);
  });
