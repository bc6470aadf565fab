import assert from 'node:assert/strict';
import { test } from 'node:test';
import { twilioQuirk } from '../../../src/webhooks/senders/presets/quirks.ts';
import { RequestReader } from '../../../src/webhooks/senders/request/request-reader.ts';

function readForm(body: string): RequestReader {
  return new RequestReader({
    method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' },
    rawHeaders: [], search: '', body: Buffer.from(body),
  });
}

test('a form of Twilio with more fields than are read is not covered by its signature', () => {
  assert.equal(twilioQuirk.check?.(readForm('a=1&b=2')), null);
  assert.match(String(twilioQuirk.check?.(readForm('a=1&'.repeat(10_001)))), /more fields/);
});
