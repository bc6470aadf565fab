/** Which runs of hook commands begin, in which order, and which a newer one does for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  COALESCED, CommandSlots, type ReleaseSlot, type SlotRequest,
} from '../../../../src/webhooks/actions/commands/command-slots.ts';

type SlotTry = {
  /** What the run got; null: it waits. */
  outcome: ReleaseSlot | typeof COALESCED | null;
  error: unknown;
  readonly waits: boolean[];
};

function take(slots: CommandSlots, request: Partial<SlotRequest>): SlotTry {
  const slotTry: SlotTry = { outcome: null, error: null, waits: [] };
  slots.take({
    configuration: 'deploy', max: null, order: null,
    onWaiting: (isWaiting) => slotTry.waits.push(isWaiting), ...request,
  }).then(
    (outcome) => {
      slotTry.outcome = outcome;
    },
    (error: unknown) => {
      slotTry.error = error;
    });
  return slotTry;
}

/** Ends the run, and resolves when those that began because of that know. */
async function release({ outcome }: SlotTry): Promise<void> {
  assert.ok(outcome !== null && outcome !== COALESCED, 'the run has begun');
  outcome();
  await settled();
}

function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function hasBegun({ outcome }: SlotTry): boolean {
  return outcome !== null && outcome !== COALESCED;
}

test('runs wait for a slot, and begin in the order in which they came', async () => {
  const slots = new CommandSlots({ max: 2 });
  const runs = ['a', 'b', 'c', 'd'].map((configuration) => take(slots, { configuration }));
  await settled();
  assert.deepEqual(runs.map(hasBegun), [true, true, false, false]);
  assert.equal(slots.waitingCount, 2);
  await release(runs[1] as SlotTry);
  assert.deepEqual(runs.map(hasBegun), [true, true, true, false]);
  await release(runs[0] as SlotTry);
  assert.deepEqual(runs.map(hasBegun), [true, true, true, true]);
  assert.deepEqual(runs.map(({ waits }) => waits), [[], [], [true, false], [true, false]]);
});

test('a slot that is released twice is free once', async () => {
  const slots = new CommandSlots({ max: 1 });
  const runs = [take(slots, {}), take(slots, {}), take(slots, {})];
  await settled();
  await release(runs[0] as SlotTry);
  await release(runs[0] as SlotTry);
  assert.deepEqual(runs.map(hasBegun), [true, true, false]);
});

test('a configuration at its limit holds back no other, and keeps its own order', async () => {
  const slots = new CommandSlots({ max: 3 });
  const first = take(slots, { max: 1 });
  const second = take(slots, { max: 1 });
  const third = take(slots, { max: 1 });
  const other = take(slots, { configuration: 'other', max: 1 });
  await settled();
  assert.deepEqual([first, second, third, other].map(hasBegun), [true, false, false, true]);
  await release(first);
  assert.deepEqual([second, third].map(hasBegun), [true, false]);
  await release(second);
  assert.equal(hasBegun(third), true);
});

test('of runs that coalesce one waits, the newest, and those before it never begin', async () => {
  const slots = new CommandSlots({ max: 4 });
  const runs = Array.from({ length: 1000 }, (_, index) =>
    take(slots, { max: 1, order: String(index).padStart(4, '0') }));
  await settled();
  assert.equal(slots.waitingCount, 1);
  assert.equal(hasBegun(runs[0] as SlotTry), true);
  assert.ok(runs.slice(1, -1).every(({ outcome }) => outcome === COALESCED));
  assert.equal(runs.at(-1)?.outcome, null);
  await release(runs[0] as SlotTry);
  assert.equal(hasBegun(runs.at(-1) as SlotTry), true);
});

test('an older run is coalesced, and the newer one that waits goes on waiting', async () => {
  const slots = new CommandSlots({ max: 1 });
  const running = take(slots, { order: '1' });
  const newer = take(slots, { order: '3' });
  const older = take(slots, { order: '2', isRetry: true });
  await settled();
  assert.equal(older.outcome, COALESCED);
  assert.deepEqual(older.waits, []);
  await release(running);
  assert.equal(hasBegun(newer), true);
});

test('a retry is coalesced if a newer run has begun, and a run that is new is not', async () => {
  const slots = new CommandSlots({ max: 1 });
  await release(await takeNow(slots, { order: '1' }));
  await release(await takeNow(slots, { order: '2' }));
  const retry = take(slots, { order: '1', isRetry: true });
  await settled();
  assert.equal(retry.outcome, COALESCED);
  await release(await takeNow(slots, { order: '2', isRetry: true }));
  await release(await takeNow(slots, { order: '1' }));
});

async function takeNow(slots: CommandSlots, request: Partial<SlotRequest>): Promise<SlotTry> {
  const slotTry = take(slots, request);
  await settled();
  assert.equal(hasBegun(slotTry), true);
  return slotTry;
}

test('a newer run has the turn of the one that it does for', async () => {
  const slots = new CommandSlots({ max: 1 });
  const running = take(slots, { configuration: 'other' });
  const older = take(slots, { order: '1' });
  const other = take(slots, { configuration: 'other' });
  const newer = take(slots, { order: '2' });
  await settled();
  assert.equal(older.outcome, COALESCED);
  await release(running);
  assert.deepEqual([newer, other].map(hasBegun), [true, false]);
});

test('configurations coalesce apart, and a run that does not coalesce beside them', async () => {
  const slots = new CommandSlots({ max: 1 });
  const running = take(slots, { order: '1' });
  const waiting = [
    take(slots, { order: '2' }), take(slots, { configuration: 'other', order: '3' }),
    take(slots, { order: null }),
  ];
  await settled();
  assert.deepEqual(waiting.map(({ outcome }) => outcome), [null, null, null]);
  let last = running;
  for (const next of waiting) {
    await release(last);
    assert.equal(hasBegun(next), true);
    last = next;
  }
});

test('a run that is cut off waits no longer, and leaves its turn', async () => {
  const slots = new CommandSlots({ max: 1 });
  const running = take(slots, { order: '1' });
  const cutOff = new AbortController();
  const waiting = take(slots, { order: '2', signal: cutOff.signal });
  const other = take(slots, { configuration: 'other' });
  cutOff.abort();
  await settled();
  assert.equal((waiting.error as { code?: string }).code, 'unavailable');
  assert.deepEqual(waiting.waits, [true, false]);
  const next = take(slots, { order: '0', signal: new AbortController().signal });
  await release(running);
  await release(other);
  assert.equal(hasBegun(next), true);
});

test('a run that was replaced is not cut off with its turn', async () => {
  const slots = new CommandSlots({ max: 1 });
  const running = take(slots, { order: '1' });
  const cutOff = new AbortController();
  const replaced = take(slots, { order: '2', signal: cutOff.signal });
  const newest = take(slots, { order: '3' });
  cutOff.abort();
  await settled();
  assert.equal(replaced.outcome, COALESCED);
  await release(running);
  assert.equal(hasBegun(newest), true);
});

test('closed slots end all waiting, and none begins any more', async () => {
  const slots = new CommandSlots({ max: 1 });
  const running = take(slots, {});
  const waiting = take(slots, {});
  await settled();
  slots.close();
  slots.close();
  const late = take(slots, {});
  await settled();
  await release(running);
  const codes = [waiting, late].map(({ error }) => (error as { code?: string }).code);
  assert.deepEqual(codes, ['unavailable', 'unavailable']);
});
