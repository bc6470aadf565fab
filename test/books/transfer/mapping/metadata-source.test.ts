import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../../../src/base/schema.ts';
import { findOwnId, findSource } from '../../../../src/books/transfer/mapping/metadata-source.ts';

test('an own id is the first text or number under its names', () => {
  const cases: readonly (readonly [JsonValue | null, string | null])[] = [
    [{ source: { x: { b: 'B', a: 'A' } } }, 'A'], [{ source: { x: { b: 7 } } }, '7'],
    [{ source: { x: { a: '', b: 'B' } } }, 'B'], [{ source: { x: { a: { id: 1 }, b: 2 } } }, '2'],
    [{ source: { x: { a: { id: 1 } } } }, null], [{ source: { x: { a: ['A'] } } }, null],
    [{ source: { x: 'a' } }, null], [{ source: { y: { a: 'A' } } }, null],
    [{ source: 'x' }, null], [{}, null], [null, null],
  ];
  for (const [metadata, ownId] of cases) {
    const fields = findSource('x', metadata);
    const found = fields === null ? null : findOwnId(fields, ['a', 'b']);
    assert.equal(found, ownId, JSON.stringify(metadata));
  }
});
