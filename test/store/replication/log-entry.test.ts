import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalLineEncoder } from '../../../src/store/journal/journal-line-encoder.ts';
import {
  LOG_START, decodeEntries, encodeEntry, findBreak,
} from '../../../src/store/replication/log-entry.ts';

const NONE = new Map();
const put = (id: string) =>
  [{ collection: 'books', id, bytes: Buffer.from(`{"id":"${id}"}`) }];
const entry = encodeEntry(new JournalLineEncoder(), LOG_START, [put('a'), put('b')]);

test('an entry comes back as its transactions', () => {
  assert.deepEqual(decodeEntries([entry], NONE), [
    { sequence: 1, operations: put('a') }, { sequence: 2, operations: put('b') },
  ]);
});

test('an entry with fewer or more transactions than it says is damaged', () => {
  for (const sequence of [1, 3]) {
    assert.throws(() => decodeEntries([{ ...entry, sequence }], NONE), { code: 'damaged' });
  }
});

test('a byte that was changed is found by its line', () => {
  const lines = Buffer.from(entry.lines.toString().replace('{"id":"b"}', '{"id":"c"}'));
  assert.throws(() => decodeEntries([{ ...entry, lines }], NONE), { code: 'damaged' });
  assert.throws(() => decodeEntries([{ ...entry, lines: entry.lines.subarray(0, -1) }], NONE),
    { code: 'damaged' });
});

test('lines of other numbers, cut off or with anything else between are damaged', () => {
  const encoder = new JournalLineEncoder();
  encoder.addNote(2, { mark: true });
  const note = Buffer.from(encoder.bytes);
  const { lines } = entry;
  for (const bad of [
    lines.subarray(0, -9), lines.subarray(1), Buffer.concat([lines, Buffer.from('\n')]),
    Buffer.concat([lines, note]),
  ]) assert.throws(() => decodeEntries([{ ...entry, lines: bad }], NONE), { code: 'damaged' });
  assert.throws(() => decodeEntries([{ ...entry, first: 2 }], NONE), { code: 'damaged' });
});

test('an entry follows one position', () => {
  assert.equal(findBreak(LOG_START, entry), null);
  assert.match(findBreak({ ...LOG_START, chain: 'f' }, entry) ?? '', /does not continue/);
  assert.match(findBreak(LOG_START, { ...entry, batchId: 'other' }) ?? '', /does not continue/);
  const shorter = { ...entry, lines: entry.lines.subarray(3) };
  assert.match(findBreak(LOG_START, shorter) ?? '', /does not continue/);
});

test('an entry with the right chain does not follow at another sequence', () => {
  assert.match(findBreak(LOG_START, { ...entry, first: 2 }) ?? '', /2 to 2 where 1 is due/);
  assert.match(findBreak({ ...LOG_START, sequence: 1 }, entry) ?? '', /1 to 2 where 2 is due/);
  assert.match(findBreak(LOG_START, { ...entry, sequence: 0 }) ?? '', /1 to 0 where 1 is due/);
});
