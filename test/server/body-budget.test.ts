/** How much the bodies that are still arriving hold in all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyBudget, type PendingBody } from '../../src/server/body-budget.ts';

function arrive(name: string, givenUp: string[]): PendingBody {
  return { bytes: 0, giveUp: () => void givenUp.push(name) };
}

test('the body of which nothing has come for the longest time is given up first', () => {
  const room = new BodyBudget(10, 25);
  const givenUp: string[] = [];
  const [first, second, third] =
    [arrive('first', givenUp), arrive('second', givenUp), arrive('third', givenUp)];
  room.reserve(first, 9);
  room.reserve(second, 9);
  room.reserve(first, 1);
  room.reserve(third, 6);
  assert.deepEqual(givenUp, []);
  room.reserve(third, 1);
  assert.deepEqual(givenUp, ['second']);
  room.reserve(third, 3);
  room.reserve(arrive('fourth', givenUp), 10);
  assert.deepEqual(givenUp, ['second', 'first']);
});

test('one that has come to its end takes no room', () => {
  const room = new BodyBudget(10, 20);
  const givenUp: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    const body = arrive('passing', givenUp);
    room.reserve(body, 10);
    room.release(body);
    room.release(body);
  }
  room.reserve(arrive('first', givenUp), 10);
  room.reserve(arrive('second', givenUp), 10);
  assert.deepEqual(givenUp, []);
});

test('a single body has room up to its own limit', () => {
  const room = new BodyBudget(10, 1);
  const givenUp: string[] = [];
  room.reserve(arrive('large', givenUp), 10);
  assert.deepEqual(givenUp, []);
  room.reserve(arrive('small', givenUp), 1);
  assert.deepEqual(givenUp, ['large']);
});
