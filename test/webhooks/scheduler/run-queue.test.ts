import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heap } from '../../../src/webhooks/scheduler/priority-queue.ts';
import {
  Lanes, type Lane, type Ticket, type Verdict,
} from '../../../src/webhooks/scheduler/run-queue.ts';
import { below, createRandom } from '../../support/random.ts';

function lanesWith(inFlightMax: number, inFlightPerLaneMax: number): Lanes {
  return new Lanes({ inFlightMax, inFlightPerLaneMax });
}

function fill(lanes: Lanes, lane: Lane, prefix: string, count: number): void {
  for (let index = 0; index < count; index += 1) {
    lanes.makeReady(lanes.add(`${prefix}-${String(index).padStart(4, '0')}`, lane, 0));
  }
}

function startAll(lanes: Lanes): Ticket[] {
  const tickets: Ticket[] = [];
  for (let next = lanes.next(); next !== null; next = lanes.next()) tickets.push(next);
  return tickets;
}

function finish(lanes: Lanes, ticket: Ticket, verdict: Verdict): void {
  lanes.release(ticket, verdict);
  lanes.remove(ticket.entry);
}

test('a heap gives what it was given, least first', () => {
  const random = createRandom(4);
  const heap = new Heap<number>((left, right) => left < right);
  const items = Array.from({ length: 500 }, () => below(random, 100));
  for (const item of items) heap.push(item);
  heap.prune((item) => item % 3 !== 0);
  const sorted = items.filter((item) => item % 3 !== 0).sort((left, right) => left - right);
  assert.deepEqual(Array.from({ length: heap.size }, () => heap.pop()), sorted);
  assert.equal(heap.pop(), undefined);
});

test('a lane starts in order of creation, whatever the order of readiness', () => {
  const lanes = lanesWith(100, 3);
  const lane = lanes.open('a', 'host', true);
  for (const id of ['c', 'a', 'b', 'd']) lanes.makeReady(lanes.add(id, lane, 0));
  assert.deepEqual(startAll(lanes).map(({ entry }) => entry.id), ['a', 'b', 'c']);
});

test('lanes take turns', () => {
  const lanes = lanesWith(4, 8);
  fill(lanes, lanes.open('a', 'one', true), 'a', 10);
  fill(lanes, lanes.open('b', 'two', true), 'b', 10);
  const started = startAll(lanes).map(({ entry }) => entry.id);
  // Unknown hosts share half of all attempts.
  assert.deepEqual(started, ['a-0000', 'b-0000']);
});

test('in strict order nothing overtakes what waits for its next attempt', () => {
  const lanes = lanesWith(10, 1);
  const lane = lanes.open('a', 'host', true);
  fill(lanes, lane, 'a', 2);
  const [first] = startAll(lanes);
  assert.ok(first !== undefined);
  lanes.release(first, 'dead');
  first.entry.state = 'waiting';
  assert.deepEqual(startAll(lanes), []);
  lanes.makeReady(first.entry);
  assert.deepEqual(startAll(lanes).map(({ entry }) => entry.id), ['a-0000']);
});

test('a closed lane holds what it has', () => {
  const lanes = lanesWith(10, 8);
  const lane = lanes.open('a', 'host', false);
  fill(lanes, lane, 'a', 2);
  assert.deepEqual(startAll(lanes), []);
  lanes.update(lane, 'host', true);
  assert.equal(startAll(lanes).length, 2);
});

test('a host earns its share, and loses half of it by each failure', () => {
  const lanes = lanesWith(64, 64);
  const lane = lanes.open('a', 'host', true);
  fill(lanes, lane, 'a', 1000);
  const first = startAll(lanes);
  assert.equal(first.length, 4);
  for (const ticket of first) finish(lanes, ticket, 'well');
  const second = startAll(lanes);
  assert.equal(second.length, 8);
  for (const ticket of second) finish(lanes, ticket, 'dead');
  assert.equal(startAll(lanes).length, 1);
});

test('a slow host keeps a few attempts at once', () => {
  const lanes = lanesWith(64, 64);
  fill(lanes, lanes.open('a', 'host', true), 'a', 1000);
  for (let round = 0; round < 10; round += 1) {
    for (const ticket of startAll(lanes)) finish(lanes, ticket, 'slow');
  }
  assert.equal(startAll(lanes).length, 8);
});

test('dead hosts, however many, leave room for one that is well', () => {
  const lanes = lanesWith(16, 8);
  const well = lanes.open('well', 'well', true);
  fill(lanes, well, 'w', 1);
  for (const ticket of startAll(lanes)) finish(lanes, ticket, 'well');
  for (let host = 0; host < 100; host += 1) {
    fill(lanes, lanes.open(`dead-${host}`, `dead-${host}`, true), `d${host}`, 20);
  }
  const stuck = startAll(lanes);
  assert.equal(stuck.length, 8);
  fill(lanes, lanes.open('well', 'well', true), 'x', 100);
  for (let round = 0; round < 4; round += 1) {
    const started = startAll(lanes);
    assert.ok(started.length >= 4 && started.every(({ host }) => host.name === 'well'));
    for (const ticket of started) finish(lanes, ticket, 'well');
  }
});

test('whatever happens, bounds hold and nothing that is ready is forgotten', () => {
  const random = createRandom(11);
  const lanes = lanesWith(10, 3);
  let running: Ticket[] = [];
  let added = 0;
  let finishedCount = 0;
  for (let step = 0; step < 20_000; step += 1) {
    const choice = below(random, 4);
    if (choice === 0 && added < 4000) {
      const key = below(random, 12);
      const lane = lanes.open(`lane-${key}`, `host-${key % 5}`, true);
      lanes.makeReady(lanes.add(String(added).padStart(6, '0'), lane, 0));
      added += 1;
    } else if (choice === 1 && running.length > 0) {
      const [ticket] = running.splice(below(random, running.length), 1);
      assert.ok(ticket !== undefined);
      finish(lanes, ticket, (['well', 'dead', 'slow'] as const)[below(random, 4)] ?? null);
      finishedCount += 1;
    } else {
      running = [...running, ...startAll(lanes)];
    }
    assert.ok(lanes.inFlight === running.length && running.length <= 10);
  }
  while (finishedCount < added) {
    running = [...running, ...startAll(lanes)];
    assert.ok(running.length > 0, `${added - finishedCount} were forgotten`);
    for (const ticket of running) finish(lanes, ticket, 'well');
    finishedCount += running.length;
    running = [];
  }
  assert.equal(lanes.inFlight, 0);
});
