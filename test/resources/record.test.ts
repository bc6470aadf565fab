import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeRecord, decodeRecordAs, encodeRecord, createTimestamps, nextTimestamps, readUpdatedMs,
} from '../../src/resources/record.ts';

const START_MS = Date.parse('2026-03-01T12:00:00.000Z');
const START = '2026-03-01T12:00:00.000Z';

for (const key of ['id', 'identifier'] as const) {
  test(`a record begins with its ${key} and its times, and is read back as it was`, () => {
    const fields = { title: 'x', pages: 2 };
    const line = encodeRecord(key, 'a.B_c~1-', createTimestamps(START_MS), fields);
    assert.equal(line, `{"${key}":"a.B_c~1-","createdAt":"${START}","updatedAt":"${START}",`
      + '"title":"x","pages":2}');
    const bytes = Buffer.from(line);
    assert.deepEqual(decodeRecord(bytes),
      { [key]: 'a.B_c~1-', createdAt: START, updatedAt: START, title: 'x', pages: 2 });
    assert.equal(readUpdatedMs(key, 'a.B_c~1-', bytes), START_MS);
  });
}

test('a record without further members ends after its times', () => {
  assert.equal(encodeRecord('id', 'a', createTimestamps(START_MS), {}),
    `{"id":"a","createdAt":"${START}","updatedAt":"${START}"}`);
});

test('the next version keeps when it was created and is later, whatever the clock says', () => {
  const bytes = Buffer.from(encodeRecord('id', 'a', createTimestamps(START_MS), {}));
  for (const [nowMs, updatedAtMs] of [
    [START_MS + 5000, START_MS + 5000], [START_MS, START_MS + 1], [START_MS - 5000, START_MS + 1],
  ] as const) {
    assert.deepEqual(nextTimestamps('id', 'a', bytes, nowMs), {
      createdAt: START, updatedAt: new Date(updatedAtMs).toISOString(), updatedMs: updatedAtMs,
    });
  }
});

test('times are taken from the head of a record, not from what a caller wrote into it', () => {
  const title = `","updatedAt":"2020-01-01T00:00:00.000Z`;
  const bytes = Buffer.from(encodeRecord('id', 'a', createTimestamps(START_MS), { title }));
  assert.equal(readUpdatedMs('id', 'a', bytes), START_MS);
});

test('refuses stored bytes that have no times, or are not what is asked for', () => {
  const bytes = Buffer.from('{"id":"a","title":"x"}');
  assert.throws(() => readUpdatedMs('id', 'a', bytes), /begins with its stamps/);
  assert.throws(() => nextTimestamps('id', 'a', bytes, START_MS), /begins with its stamps/);
  assert.throws(() => decodeRecordAs(bytes, ({ name }) => typeof name === 'string'),
    /^AppError: a stored record is not sound, .*: \{"id":"a"/);
  assert.throws(() => decodeRecordAs('[]', () => true), { code: 'damaged' });
});
