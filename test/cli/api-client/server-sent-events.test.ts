import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { readEvents } from '../../../src/cli/api-client/server-sent-events.ts';

async function eventsOf(bytes: Buffer, pieceBytes: number): Promise<object[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(bytes.subarray(at, at + pieceBytes));
  }
  const events: object[] = [];
  for await (const event of readEvents(Readable.from(pieces))) events.push(event);
  return events;
}

test('reads the same events however the bytes are cut', async () => {
  const bytes = Buffer.from([
    ': hookshelf', 'retry: 1000', 'id: 7', '', 'id: 8.1', 'event: book',
    'data: {"title":"Änne"}', '',
    ':', '', 'data: one', 'data:two\r', 'unknown', '\r', 'event: nothing', '', 'id: 9',
    'data: never ended',
  ].join('\n'));
  for (const pieceBytes of [1, 2, 3, 7, bytes.length]) {
    assert.deepEqual(await eventsOf(bytes, pieceBytes), [
      { id: '7', event: 'message', data: null },
      { id: '8.1', event: 'book', data: '{"title":"Änne"}' },
      { id: '8.1', event: 'message', data: 'one\ntwo' },
    ], `in pieces of ${pieceBytes}`);
  }
});
