import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareInbox } from '../../../src/webhooks/incoming/inbox-members.ts';
import { standardWebhooks } from '../../../src/webhooks/senders/presets/preset.ts';

const MEMBERS = {
  inbox: 'failed', answer: 'result', deduplicate: 'auto', deduplicateHours: 72,
} as const;

const SIGNED = standardWebhooks('webhook');

test('an event id is signed only where the signature covers its place', () => {
  for (const [deduplicate, scheme, isSigned] of [
    [{ header: 'X-Id' }, null, false], [{ json: 'id' }, null, true],
    [{ header: 'X-Id' }, SIGNED, false], [{ json: 'id' }, SIGNED, true],
    ['auto', SIGNED, true], ['auto', null, false],
  ] as const) {
    assert.equal(prepareInbox({ ...MEMBERS, deduplicate }, scheme).isEventIdSigned, isSigned,
      JSON.stringify(deduplicate));
  }
});

test('no event ids are compared where that is off', () => {
  assert.ok(prepareInbox(MEMBERS, SIGNED).deduplicateMs > 0);
  assert.equal(prepareInbox({ ...MEMBERS, deduplicate: 'off' }, SIGNED).deduplicateMs, 0);
});
