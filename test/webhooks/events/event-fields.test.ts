import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restrictEvents } from '../../../src/webhooks/events/event-fields.ts';
import { Visibility } from '../../../src/webhooks/members/visibility.ts';

const ALL = { name: null, source: null, heard: null, key: null, hook: null, time: null };

/** Makes the test of receivers for a webhook that a customer names, and counts his looks at any. */
function restrict(hook: string) {
  let looks = 0;
  const webhooks = new Map(['acme', 'bolt'].map((name) => [`id-${name}`,
    { identifier: `id-${name}`, name }]));
  const visibility = new Visibility({ tokenId: 't', webhooks: ['acme'] }, {
    find(identifier) {
      looks += 1;
      return webhooks.get(identifier);
    },
  });
  const { hook: isReceiver } = restrictEvents({ ...ALL, hook }, visibility, false);
  assert.ok(typeof isReceiver === 'function');
  const seen = ['id-acme', 'id-bolt', 'id-none'].filter(isReceiver);
  return { seen, looks };
}

test('events of a foreign webhook are looked for as those of one that there is not', () => {
  assert.deepEqual(restrict('id-acme').seen, ['id-acme']);
  assert.deepEqual(restrict('id-bolt'), { seen: [], looks: 1 });
  assert.deepEqual(restrict('id-bolt'), restrict('id-none'));
});
