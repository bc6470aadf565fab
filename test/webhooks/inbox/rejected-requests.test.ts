/** Rejected requests, which anybody can send: what is held of them in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RejectedRing } from '../../../src/webhooks/inbox/rejected-requests.ts';
import { makeStoredRequest } from '../inbox/sample-request.ts';

const SMALL = [['A', 'b']] as const;
/** Takes some 160 KB, though it came in 12. */
const MANY = Array.from({ length: 1300 }, (_, index) => [`k${index}`, 'b'] as const);

function add(
  ring: RejectedRing, hook: string, index: number, headers: readonly (readonly [string, string])[],
): string {
  const id = `${hook}-${index}`;
  ring.add(makeStoredRequest({ given: { id, hook, headers, status: 'rejected' } }),
    Buffer.from('{}'));
  return id;
}

test('a hundred are held of a webhook, and a thousand in all, the newest', () => {
  const ring = new RejectedRing();
  for (let index = 0; index < 101; index += 1) add(ring, 'first', index, SMALL);
  assert.equal([...ring.all()].length, 100);
  assert.equal(ring.find('first-0'), undefined);
  assert.equal(ring.find('first-1')?.isWhole, true);
  for (let hook = 0; hook < 10; hook += 1) {
    for (let index = 0; index < 100; index += 1) add(ring, `other${hook}`, index, SMALL);
  }
  assert.equal([...ring.all()].length, 1000);
  assert.equal(ring.find('first-100'), undefined);
});

test('those with many headers are held while they take no more than their share', () => {
  const ring = new RejectedRing();
  add(ring, 'quiet', 0, SMALL);
  for (let index = 0; index < 100; index += 1) add(ring, 'flooded', index, MANY);
  const held = [...ring.all()].filter(({ hook }) => hook === 'flooded');
  assert.ok(held.length >= 5 && held.length <= 15, `${held.length}`);
  assert.equal(held.at(-1)?.id, 'flooded-99');
  assert.ok(ring.find('quiet-0') !== undefined, 'a flood at one webhook pushed out another one');
  for (let hook = 0; hook < 20; hook += 1) {
    for (let index = 0; index < 20; index += 1) add(ring, `other${hook}`, index, MANY);
  }
  assert.ok([...ring.all()].length < 100);
});

test('one that is too large for its share is not held, and leaves nothing behind', () => {
  const ring = new RejectedRing();
  const huge = Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 'b'] as const);
  add(ring, 'first', 0, huge);
  assert.deepEqual([...ring.all()], []);
  add(ring, 'first', 1, SMALL);
  assert.equal([...ring.all()].length, 1);
});
