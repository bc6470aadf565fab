import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hideForeignWait } from '../../../src/webhooks/health/public-health.ts';
import { Visibility } from '../../../src/webhooks/members/visibility.ts';

const webhooks = new Map<string, object>();

function see(...entries: readonly string[]): Visibility {
  return new Visibility({ tokenId: 't1', webhooks: entries }, {
    find: (identifier) => {
      const webhook = webhooks.get(identifier);
      return webhook === undefined ? undefined : { identifier, ...webhook };
    },
  });
}

for (const [id, webhook] of Object.entries({
  1: { name: 'acme' }, 2: { name: 'acme-eu' }, 3: {}, 4: { name: 'bolt' },
  5: { name: 'acme-shaped', payloadTemplate: '{}' },
  6: { name: 'acme-acting', actionConfiguration: 'to-log' },
})) webhooks.set(id, webhook);

for (const [entries, expected] of [
  [['acme'], '1'], [['acme-*'], '2,5,6'], [['acme*'], '1,2,5,6'], [['3'], '3'], [['3*'], ''],
  [['none', 'b*', '2'], '2,4'], [['acme-'], ''],
] as const) {
  test(`a binding to ${entries.join(' ')} sees webhooks ${expected}`, () => {
    const visibility = see(...entries);
    assert.equal([...webhooks.keys()].filter((id) => visibility.seesWebhook(id)).join(), expected);
  });
}

test('a payload is seen where one of his webhooks was sent it as it was', () => {
  const visibility = see('acme*');
  assert.deepEqual([['4', '5'], ['5', '6'], ['5', '1'], ['4'], [null]].map((ids) =>
    [visibility.seesEvent(ids), visibility.seesPayload(ids)]),
  [[true, false], [true, false], [true, true], [false, false], [false, false]]);
});

test('a wait for a host names his webhooks alone, and without one of them there is none', () => {
  const show = (behind: readonly string[]): unknown => {
    const health = { state: 'healthy', waitsFor: { target: 'a:80', since: 'now', behind } };
    const bytes = Buffer.from(JSON.stringify({ identifier: '1', health }));
    return JSON.parse(hideForeignWait(see('acme*'), bytes).toString()).health.waitsFor;
  };
  assert.deepEqual(show(['4', '2', 'gone']), { target: 'a:80', since: 'now', behind: ['2'] });
  assert.equal(show(['4', 'gone']), null);
});
