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

const BROKEN_SCHEMES: readonly (readonly [unknown, others: object, pointers: string[]])[] = [
  ['hmac', { url: 'https://a.example/', toleranceS: 300 }, ['/verification/scheme']],
  [{ timestamp: 'X-Time' }, { toleranceS: 300 }, ['/verification/scheme/timestamp']],
  [{ needs: ['urls'] }, { url: 'https://a.example/' }, ['/verification/scheme/needs/0']],
  [{ needs: 'url' }, { url: 'https://a.example/' }, ['/verification/scheme/needs']],
  [{}, { url: 'https://a.example/' }, ['/verification/url']],
  [{ needs: ['urls'] }, { toleranceS: 300 },
    ['/verification/scheme/needs/0', '/verification/toleranceS']],
];

test('a scheme that is not valid makes no member beside it wrong', async (context) => {
  const relay = await startRelayFor(context);
  for (const [members, others, pointers] of BROKEN_SCHEMES) {
    const scheme = typeof members !== 'object' ? members : {
      algorithm: 'hmac-sha256', key: 'utf8', content: '{body}',
      signature: { from: { header: 'X-Signature' }, encoding: 'hex' }, ...members,
    };
    const { status, json } = await relay.hook({ actionType: 'log' },
      { secret: 'any', verification: { preset: 'custom', scheme, ...others } });
    const errors = json['errors'] as readonly { readonly pointer: string }[];
    assert.equal(status, 422);
    const found = errors.map(({ pointer }) => pointer)
      .filter((pointer) => pointer !== '/verification/scheme' || pointers.includes(pointer));
    assert.deepEqual(found, pointers, JSON.stringify([members, errors]));
  }
});
