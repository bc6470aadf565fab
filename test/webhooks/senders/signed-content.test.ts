import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestReader } from '../../../src/webhooks/senders/request/request-reader.ts';
import {
  collectPieces, parseContent,
} from '../../../src/webhooks/senders/verification/signed-content.ts';

test('the checksum of a body is a number without a sign', () => {
  const body = Buffer.from('a');
  const reader = new RequestReader({
    method: 'POST', headers: {}, rawHeaders: [], search: '', body,
  });
  const values = { body, reader, timestamp: '', id: '', url: '', webhookId: '' };
  assert.deepEqual(collectPieces(parseContent('crc={bodyCrc32}'), values), ['crc=', '3904355907']);
});
