/** Values that are read from requests, and the content that is made of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FORM_TYPE } from '../../../src/base/text/parse-form.ts';
import { twilioQuirk } from '../../../src/webhooks/senders/presets/quirks.ts';
import { RequestReader } from '../../../src/webhooks/senders/request/request-reader.ts';
import {
  collectPieces, parseContent,
} from '../../../src/webhooks/senders/verification/signed-content.ts';

function createReader(text: string, contentType = 'application/json'): RequestReader {
  return new RequestReader({
    method: 'POST', headers: { 'content-type': contentType }, rawHeaders: [], search: '',
    body: Buffer.from(text),
  });
}

test('JSON is read without its byte order mark', () => {
  assert.equal(createReader('\ufeff{"a":1}').read({ json: 'a' }), '1');
});

test('a form of Twilio with more fields than are read is not covered by its signature', () => {
  const check = (form: string): unknown => twilioQuirk.check?.(createReader(form, FORM_TYPE));
  assert.equal(check('a=1&b=2'), null);
  assert.match(String(check('a=1&'.repeat(10_001))), /more fields/);
});

test('the checksum of a body is a number without a sign', () => {
  const reader = createReader('a');
  const values = {
    body: reader.request.body, reader, timestamp: '', id: '', url: '', webhookId: '',
  };
  assert.deepEqual(collectPieces(parseContent('crc={bodyCrc32}'), values), ['crc=', '3904355907']);
});
