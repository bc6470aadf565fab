import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalLineEncoder } from '../../../src/store/journal/journal-line-encoder.ts';
import { LOG_START } from '../../../src/store/replication/log-chain.ts';
import {
  decodeEntries, decodeUnchained, encodeEntry,
} from '../../../src/store/replication/log-entry.ts';

const put = (id: string) =>
  [{ collection: 'books', id, bytes: Buffer.from(`{"id":"${id}"}`) }];
const entry = encodeEntry(new JournalLineEncoder(), LOG_START, [put('a'), put('b')]);

test('an entry comes back as its transactions', () => {
  const expected = [
    { sequence: 1, operations: put('a') }, { sequence: 2, operations: put('b') },
  ];
  assert.deepEqual(decodeEntries([entry]), expected);
  assert.deepEqual(decodeUnchained([entry]), expected);
});

test('an entry with fewer or more transactions than it says is damaged', () => {
  for (const sequence of [1, 3]) {
    assert.throws(() => decodeEntries([{ ...entry, sequence }]), { code: 'damaged' });
  }
});

test('a byte that was changed is found by its line where no chain vouches for it', () => {
  const lines = Buffer.from(entry.lines.toString().replace('{"id":"b"}', '{"id":"c"}'));
  assert.throws(() => decodeUnchained([{ ...entry, lines }]), { code: 'damaged' });
  assert.throws(() => decodeUnchained([{ ...entry, lines: entry.lines.subarray(0, -1) }]),
    { code: 'damaged' });
});
