/** How much the requests under way hold in all: arriving bodies, requests, and runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryBudget, type ArrivingBody } from '../../src/base/memory-budget.ts';

function arrive(name: string, givenUp: string[]): ArrivingBody {
  return { bytes: 0, giveUp: () => void givenUp.push(name) };
}

function countFreed(budget: MemoryBudget): () => number {
  let count = 0;
  budget.onFree(() => {
    count += 1;
  });
  return () => count;
}

test('the body of which nothing has come for the longest time is given up first', () => {
  const budget = new MemoryBudget(100, 25);
  const givenUp: string[] = [];
  const [first, second, third] =
    [arrive('first', givenUp), arrive('second', givenUp), arrive('third', givenUp)];
  budget.addArrived(first, 9);
  budget.addArrived(second, 9);
  budget.addArrived(first, 1);
  budget.addArrived(third, 6);
  assert.deepEqual(givenUp, []);
  budget.addArrived(third, 1);
  assert.deepEqual(givenUp, ['second']);
  budget.addArrived(third, 3);
  budget.addArrived(arrive('fourth', givenUp), 10);
  assert.deepEqual(givenUp, ['second', 'first']);
});

test('a body that has come to its end takes no room', () => {
  const budget = new MemoryBudget(100, 20);
  const givenUp: string[] = [];
  for (let count = 0; count < 10; count += 1) {
    const body = arrive('passing', givenUp);
    budget.addArrived(body, 10);
    budget.endArrival(body);
    budget.endArrival(body);
  }
  budget.addArrived(arrive('first', givenUp), 10);
  budget.addArrived(arrive('second', givenUp), 10);
  assert.deepEqual(givenUp, []);
});

test('arriving bodies keep requests out, but never the only one', () => {
  const budget = new MemoryBudget(100, 60);
  const body = arrive('slow', []);
  budget.addArrived(body, 60);
  assert.equal(budget.reserve(90), true, 'alone');
  assert.equal(budget.reserve(10), false);
  budget.release(90);
  assert.equal(budget.reserve(30), true);
  assert.equal(budget.reserve(20), false);
  budget.endArrival(body);
  assert.equal(budget.reserve(20), true);
});

test('requests share the room, and one alone always has some', () => {
  const budget = new MemoryBudget(100);
  assert.equal(budget.reserve(200), true);
  assert.equal(budget.reserve(10), false);
  assert.equal(budget.reserve(0), true, 'it holds nothing');
  budget.release(200);
  assert.equal(budget.reserve(50), true);
  assert.equal(budget.reserve(50), true);
  assert.equal(budget.reserve(10), false);
});

test('runs share it with requests, and the only run always has room', () => {
  const budget = new MemoryBudget(100);
  assert.equal(budget.reserve(100), true);
  assert.equal(budget.beginRun(200), true, 'requests do not keep it from its turn');
  assert.equal(budget.beginRun(10), false);
  assert.equal(budget.reserve(10), false);
  budget.endRun(200);
  budget.release(100);
  assert.equal(budget.beginRun(50), true);
  assert.equal(budget.beginRun(50), true);
});

test('a run waits for a request that is too large for the room by itself', () => {
  const budget = new MemoryBudget(100);
  assert.equal(budget.reserve(200), true);
  assert.equal(budget.beginRun(10), false);
  budget.release(200);
  assert.equal(budget.beginRun(10), true);
});

test('a run that waits for others holds what it keeps, and has room when it goes on', () => {
  const budget = new MemoryBudget(100);
  const freed = countFreed(budget);
  assert.equal(budget.beginRun(100), true);
  assert.equal(budget.beginRun(95), false);
  budget.endRun(96);
  assert.equal(freed(), 1);
  assert.equal(budget.beginRun(95), true);
  assert.equal(budget.beginRun(2), false, 'the rest is held');
  budget.resumeRun(96);
  budget.endRun(95);
  assert.equal(budget.beginRun(10), false);
  budget.endRun(100);
  assert.equal(budget.beginRun(100), true);
});

test('who waits is told once, and only when there is room', () => {
  const budget = new MemoryBudget(100);
  const freed = countFreed(budget);
  const body = arrive('slow', []);
  budget.addArrived(body, 10);
  budget.beginRun(50);
  assert.equal(budget.beginRun(50), false);
  budget.endArrival(body);
  assert.equal(freed(), 1);
  assert.equal(budget.beginRun(60), false);
  budget.reserve(10);
  budget.release(10);
  assert.equal(freed(), 1, 'not enough');
  budget.endRun(50);
  budget.reserve(10);
  budget.release(10);
  assert.equal(freed(), 2);
});
