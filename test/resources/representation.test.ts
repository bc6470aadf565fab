import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRepresentation } from '../../src/resources/representation.ts';

const id = '00000000-0000-7000-8000-000000000001';
const at = '2026-01-01T00:00:00.000Z';

function represent(wait: string | null) {
  const bytes = Buffer.from(JSON.stringify({ identifier: id, createdAt: at, updatedAt: at, a: 1 }));
  return createRepresentation({
    collection: { name: 'things', key: 'identifier' }, toPublic: (record) => record,
    observe: () => ({ members: { health: { wait } }, changedAtMs: 0 }),
  }, id, bytes);
}

const hide = (bytes: Buffer): Buffer =>
  Buffer.from(bytes.toString().replace('"wait":"others"', '"wait":null'));

test('what a caller does not see changes neither his JSON nor his tag', () => {
  const seen = represent('others').view(hide);
  const without = represent(null);
  assert.deepEqual([seen.bytes, seen.etag], [without.bytes, without.etag]);
  assert.notEqual(represent('others').etag, without.etag);
});

test('a version that is seen whole is the same', () => {
  const representation = represent('own');
  assert.equal(representation.view((bytes) => bytes), representation);
});
