import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecordTable, readFrozenSpan, readId } from '../../../src/store/records/record-table.ts';

function createTable(ids: readonly string[]) {
  const table = new RecordTable('id');
  const slots = ids.map((id) => table.add(table.arena.append(`{"id":"${id}"}`)));
  return { table, slots };
}

test('a slot that was given up is given to the next record', () => {
  const { table, slots } = createTable(['a', 'b', 'c']);
  assert.deepEqual(slots, [0, 1, 2]);
  table.remove(0);
  table.remove(2);
  assert.deepEqual([0, 1, 2].map((slot) => table.keyAt(slot)), [undefined, 'b', undefined]);
  const again = ['d', 'e', 'f'].map((id) => table.add(table.arena.append(`{"id":"${id}"}`)));
  assert.deepEqual(again, [2, 0, 3]);
  assert.deepEqual([0, 1, 2, 3].map((slot) => table.keyAt(slot)), ['e', 'b', 'd', 'f']);
});

test('a slot is given up once, and takes no record without bytes', () => {
  const { table } = createTable(['a']);
  table.remove(0);
  assert.throws(() => table.remove(0), { name: 'AssertionError' });
  assert.throws(() => table.add({ chunk: 0, offset: 0, length: 0 }), { name: 'AssertionError' });
});

test('a frozen view does not see what is written after it', () => {
  const { table } = createTable(['a', 'b']);
  const before = readFrozenSpan(table.freeze(), 1);
  const pages = table.freeze();
  table.move(1, table.arena.append('{"id":"b","title":"new"}'));
  assert.deepEqual(readFrozenSpan(pages, 1), before);
  assert.equal(table.bytesAt(1)?.toString(), '{"id":"b","title":"new"}');
});

test('the id of a record is its first member, whatever that is called', () => {
  for (const record of ['{"id":"a-1"}', '{"identifier":"a-1","id":"b"}']) {
    assert.equal(readId(Buffer.from(record)), 'a-1');
  }
});
