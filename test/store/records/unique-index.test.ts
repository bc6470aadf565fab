import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UniqueIndex } from '../../../src/store/records/unique-index.ts';

const bytes = (members: object): Buffer => Buffer.from(JSON.stringify(members));

test('a value leads to its record, from whichever member it is in', () => {
  const index = new UniqueIndex(['path', 'name']);
  index.put('a', bytes({ path: 'one', name: 'two', title: 'three' }));
  assert.deepEqual(['one', 'two', 'three'].map((value) => index.findId(value)),
    ['a', 'a', undefined]);
  index.put('a', bytes({ path: 'one', name: 5 }));
  assert.equal(index.findId('two'), undefined);
});

test('a record that gives up a value takes it from no other', () => {
  const index = new UniqueIndex(['path']);
  index.put('a', bytes({ path: 'one' }));
  index.put('b', bytes({ path: 'one' }));
  index.delete('a');
  assert.equal(index.findId('one'), 'b');
  assert.deepEqual(index.findValues('a'), []);
});
