import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StagedRecords } from '../../../src/store/transactions/staging.ts';

/** `a` and `b` of the batch that is written, and later ones of `b` and `c`. */
function createTwoBatches(): StagedRecords<string> {
  const records = new StagedRecords<string>();
  records.put('a', 'a1');
  records.put('b', 'b1');
  records.startNextBatch();
  records.put('b', 'b2');
  records.put('c', 'c2');
  return records;
}

test('the latest of each id is found, once', () => {
  const records = createTwoBatches();
  assert.deepEqual(['a', 'b', 'c', 'd'].map((id) => records.get(id)),
    ['a1', 'b2', 'c2', undefined]);
  assert.deepEqual([...records.values()].sort(), ['a1', 'b2', 'c2']);
});

test('undo goes back to what was staged before in the same batch, else to the batch before', () => {
  const records = createTwoBatches();
  const replaced = records.put('b', 'b3');
  records.undo('b', replaced);
  assert.equal(records.get('b'), 'b2');
  records.undo('b', undefined);
  assert.equal(records.get('b'), 'b1');
});

test('a committed batch goes, the one that gathers stays', () => {
  const records = createTwoBatches();
  records.dropCommitted();
  assert.deepEqual([...records.values()].sort(), ['b2', 'c2']);
  records.clear();
  assert.deepEqual([...records.values()], []);
});
