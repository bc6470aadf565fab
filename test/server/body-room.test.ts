/** How much the bodies that are still arriving hold in all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyRoom, type ArrivingBody } from '../../src/server/body-room.ts';

function arrive(name: string, givenUp: string[]): ArrivingBody {
  return { bytes: 0, giveUp: () => void givenUp.push(name) };
}

test('the body of which nothing has come for the longest time is given up first', () => {
  const room = new BodyRoom(10, 25);
  const givenUp: string[] = [];
  const [first, second, third] =
    [arrive('first', givenUp), arrive('second', givenUp), arrive('third', givenUp)];
  room.grow(first, 9);
  room.grow(second, 9);
  room.grow(first, 1);
  room.grow(third, 6);
  assert.deepEqual(givenUp, []);
  room.grow(third, 1);
  assert.deepEqual(givenUp, ['second']);
  room.grow(third, 3);
  room.grow(arrive('fourth', givenUp), 10);
  assert.deepEqual(givenUp, ['second', 'first']);
});

test('one that has come to its end takes no room', () => {
  const room = new BodyRoom(10, 20);
  const givenUp: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    const body = arrive('passing', givenUp);
    room.grow(body, 10);
    room.leave(body);
    room.leave(body);
  }
  room.grow(arrive('first', givenUp), 10);
  room.grow(arrive('second', givenUp), 10);
  assert.deepEqual(givenUp, []);
});

test('a single body has room up to its own limit', () => {
  const room = new BodyRoom(10, 1);
  const givenUp: string[] = [];
  room.grow(arrive('large', givenUp), 10);
  assert.deepEqual(givenUp, []);
  room.grow(arrive('small', givenUp), 1);
  assert.deepEqual(givenUp, ['large']);
});
