import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PayloadBudget } from '../../../src/webhooks/incoming/receiving/payload-budget.ts';

/** Taken for 24 times its length. */
const body = (bytes: number): Buffer => Buffer.alloc(bytes / 24);

test('requests share the room, and one alone always has some', () => {
  const room = new PayloadBudget(2400);
  assert.equal(room.reserve(body(4800)), 4800);
  assert.equal(room.reserve(body(240)), null);
  room.release(4800);
  assert.equal(room.reserve(body(1200)), 1200);
  assert.equal(room.reserve(body(1200)), 1200);
  assert.equal(room.reserve(body(240)), null);
});

test('runs share it with requests, and the only run always has room', () => {
  const room = new PayloadBudget(2400);
  assert.equal(room.reserve(body(2400)), 2400);
  assert.equal(room.reserveForRun(body(4800)), 4800, 'requests do not keep it from its turn');
  assert.equal(room.reserveForRun(body(240)), null);
  assert.equal(room.reserve(body(240)), null);
  room.releaseRun(4800);
  room.release(2400);
  assert.equal(room.reserveForRun(body(1200)), 1200);
  assert.equal(room.reserveForRun(body(1200)), 1200);
});

test('a run waits for a request that is too large for the room by itself', () => {
  const room = new PayloadBudget(2400);
  assert.equal(room.reserve(body(4800)), 4800);
  assert.equal(room.reserveForRun(body(240)), null);
  room.release(4800);
  assert.equal(room.reserveForRun(body(240)), 240);
});

test('a run that waits for others holds its body alone, and has room when it goes on', () => {
  const room = new PayloadBudget(2400);
  let told = 0;
  room.onFree(() => {
    told += 1;
  });
  const waiting = body(2400);
  assert.equal(room.reserveForRun(waiting), 2400);
  assert.equal(room.reserveForRun(body(2280)), null);
  room.beginWait(2400, waiting);
  assert.equal(told, 1);
  assert.equal(room.reserveForRun(body(2280)), 2280);
  assert.equal(room.reserveForRun(body(48)), null, 'its body is held');
  room.endWait(2400, waiting);
  room.releaseRun(2280);
  assert.equal(room.reserveForRun(body(240)), null);
  room.releaseRun(2400);
  assert.equal(room.reserveForRun(body(2400)), 2400);
});

test('who waits is told once, and only when there is room', () => {
  const room = new PayloadBudget(2400);
  let told = 0;
  room.onFree(() => {
    told += 1;
  });
  room.reserveForRun(body(1200));
  room.reserve(body(240));
  assert.equal(room.reserveForRun(body(1440)), null);
  room.release(240);
  assert.equal(told, 0, 'not enough');
  room.releaseRun(1200);
  room.reserve(body(240));
  room.release(240);
  assert.equal(told, 1);
});
