import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Transaction } from '../../../src/store/store-port.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openSharedStore } from '../../support/open-shared-store.ts';
import { SimulatedEngine } from '../../support/simulated-engine.ts';
import { someTurns, turnsUntil } from '../../support/turns.ts';

let engine: SimulatedEngine;
let clock: ManualClock;
let store: OpenedStore;

beforeEach(async () => {
  engine = new SimulatedEngine();
  clock = new ManualClock();
  store = await openSharedStore(engine, { clock });
  await clock.advance(2000);
});

afterEach(() => store.close());

const put = (transaction: Transaction): void =>
  void transaction.put('books', 'a', '{"id":"a"}');
const connects = (): number => engine.calls.filter((call) => call === 'connect').length;

test('a session that is lost in the middle of an append is replaced at once', async () => {
  const before = connects();
  engine.faults = (call) => call === 'append' && connects() === before ? 'lost-before' : 'none';
  let isDone = false;
  void store.transact(put).then(() => void (isDone = true));
  await turnsUntil(() => isDone);
  assert.equal(connects(), before + 1);
});

test('sessions that are lost as soon as they are used are replaced after pauses', async () => {
  const before = connects();
  engine.faults = (call) => call === 'append' ? 'lost-before' : 'none';
  let isDone = false;
  void store.transact(put).then(() => void (isDone = true));
  await someTurns();
  assert.equal(connects(), before + 1);
  await clock.advance(1000);
  assert.ok(connects() <= before + 3, `${connects() - before} in the first second`);
  engine.faults = () => 'none';
  await clock.advance(4000);
  assert.ok(isDone);
});
