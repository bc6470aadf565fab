import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arena, CHUNK_BYTES } from '../../../src/store/records/arena.ts';
import type { RecordSpan } from '../../../src/store/records/arena.ts';

function read(arena: Arena, { chunk, offset, length }: RecordSpan): string {
  return arena.chunk(chunk).toString('utf8', offset, offset + length);
}

test('a text lies in the arena whole, wherever a chunk ends and however wide it is', () => {
  const arena = new Arena();
  const texts = Array.from({ length: 400 }, (_, index) => `${index}${'é€'.repeat(index * 3)}`);
  const spans = texts.map((text) => arena.append(text));
  assert.ok(new Set(spans.map(({ chunk }) => chunk)).size > 2, 'some chunks are full');
  assert.deepEqual(spans.map((span) => read(arena, span)), texts);
});

test('a record larger than a chunk has one of its own', () => {
  const arena = new Arena();
  const [small, large] = [arena.append('small'), arena.append('x'.repeat(2 * CHUNK_BYTES))];
  assert.notEqual(small.chunk, large.chunk);
  assert.equal(read(arena, large).length, 2 * CHUNK_BYTES);
});

test('a record that just fits fills its chunk', () => {
  const arena = new Arena();
  const first = arena.append('a');
  const left = arena.chunk(first.chunk).length - 2 * ',\n'.length - 1;
  assert.equal(arena.append('b'.repeat(left)).chunk, first.chunk);
  assert.notEqual(arena.append('c').chunk, first.chunk);
});

test('a chunk goes with its last record, unless it is being filled', () => {
  const arena = new Arena();
  const first = arena.append('a'.repeat(40_000));
  const second = arena.append('b'.repeat(40_000));
  assert.notEqual(first.chunk, second.chunk);
  arena.release(first.chunk, first.length);
  assert.equal(arena.chunk(first.chunk).length, 0);
  arena.release(second.chunk, second.length);
  assert.ok(arena.chunk(second.chunk).length > 0);
  assert.equal(arena.garbageBytes, 40_000 + ',\n'.length);
});

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
