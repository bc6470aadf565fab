import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arena } from '../../../src/store/records/arena.ts';

test('the number of a chunk that has gone is given again, but not while it is frozen', () => {
  const arena = new Arena();
  const [first] = [arena.append('a'.repeat(40_000)), arena.append('b'.repeat(40_000))];
  const frozen = arena.freeze();
  arena.release(first.chunk, first.length);
  assert.notEqual(arena.adopt(Buffer.from('c')), first.chunk);
  assert.equal(frozen.chunks[first.chunk]?.toString('utf8', 0, 3), 'aaa');
  arena.thaw();
  assert.equal(arena.adopt(Buffer.from('d')), first.chunk);
});
