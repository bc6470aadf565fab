import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { about, checkGoesOn, checkImages, imagesOf, sample } from '../support/crashes.ts';
import { CLEANUPS, FAULTS, failAt, type FaultAt } from '../support/faults.ts';
import { IS_LONG, someOf } from '../support/long.ts';
import { openOn } from '../support/open-store.ts';
import { Disk } from '../support/simulated-disk.ts';
import type { Call, CallKind, SimulatedFiles } from '../support/simulated-files.ts';
import { contentOf, createSteps, runSteps, type Outcome } from '../support/workload.ts';

const CODES = new Set([
  'conflict', 'precondition_failed', 'storage_full', 'unavailable', 'unknown_outcome',
]);

// Of the crashes that may follow a fault.
const IMAGES = IS_LONG ? 3 : 1;
// Of the faults of variants, which differ from the first in one thing.
const VARIANTS_EVERY = 3;
const NONE: FaultAt = { number: -1, fault: {}, also: null };

type Faulted = {
  readonly files: SimulatedFiles;
  readonly outcomes: Outcome[];
  /** How many operations there were before the fault. */
  readonly faultedAt: number;
  /** The calls that ran, in order, up to the end of the first compaction. */
  readonly calls: readonly Call[];
};

/** Traffic with a compaction in its middle, faults in it, and more of both when they are over. */
async function runFaulted(faultAt: FaultAt, isSlowDisk: boolean): Promise<Faulted> {
  const { store, files, clock } = await openOn(new Disk());
  clock.tickMs = isSlowDisk ? 3 : 0;
  const { calls, onCall } = failAt(faultAt);
  let faultedAt = 0;
  files.onCall = (call) => {
    if (calls.length === faultAt.number) faultedAt = files.history.length;
    return onCall(call);
  };
  const operations = (): number => files.history.length;
  const outcomes = await runSteps(store, createSteps(81, 6, 'a'), 3, operations);
  const compacted = store.compact().catch((error: unknown) => assert.ok(error instanceof AppError));
  outcomes.push(...await runSteps(store, createSteps(82, 8, 'b'), 2, operations));
  await compacted;
  const faultable = calls.length;
  const stopped = store.failure;
  files.onCall = () => null;
  await clock.advance(5000);
  outcomes.push(...await runSteps(store, createSteps(83, 3, 'c'), 1, operations));
  for (const { error } of outcomes) {
    assert.ok(error === null || error instanceof AppError && CODES.has(error.code), String(error));
  }
  const mayStop = calls[faultAt.number]?.kind === 'datasync' || faultAt.also !== null;
  if (!mayStop) assert.equal(store.failure, null);
  if (store.failure === null) await store.compact();
  else assert.ok(outcomes.slice(-3).every(({ error }) => error !== null), `${stopped}`);
  contentOf(store);
  await store.close().catch((error: unknown) => assert.ok(error instanceof AppError));
  assert.deepEqual(files.openPaths, []);
  return { files, outcomes, faultedAt, calls: calls.slice(0, faultable) };
}

/** Runs with faults at the calls of these kinds, and checks what crashes afterwards leave. */
async function runAllFaulted(
  kinds: readonly string[], also: CallKind | null, isSlowDisk: boolean, every = VARIANTS_EVERY,
): Promise<void> {
  const { calls } = await runFaulted(NONE, isSlowDisk);
  assert.ok(calls.length > 20);
  const faults = calls.flatMap(({ kind, path }, number) =>
    (kinds.includes(kind) ? FAULTS[kind] : []).map((fault) => ({ kind, path, number, fault })));
  for (const { kind, path, number, fault } of someOf(faults, every)) {
    await about(`with ${JSON.stringify(fault)} at call ${number}, ${kind} ${path}`, async () => {
      const faultAt = { number, fault, also };
      const { files, outcomes, faultedAt } = await runFaulted(faultAt, isSlowDisk);
      const options = { seeds: 2, pageBytes: 64, tornEvery: Infinity };
      const soon = imagesOf(files, { ...options, from: faultedAt, until: faultedAt + 5 });
      const later = imagesOf(files, { ...options, from: files.history.length });
      await checkImages(sample([...soon, ...later], IMAGES, number), outcomes, 3);
    });
  }
}

test('a failure of any one call, in traffic or compaction, loses nothing and stops only on a sync',
  () => runAllFaulted(Object.keys(FAULTS), null, false, 3));

test('the same where the disk is slow and the thread pool does the writing',
  () => runAllFaulted(['write', 'datasync'], null, true));

for (const { also, after } of CLEANUPS) {
  test(`the same when the next ${also} fails too`, () => runAllFaulted(after, also, false));
}

test('a batch that was refused never comes back, wherever it was cut off', async () => {
  for (let bytes = 100; bytes < 700; bytes += 120) {
    for (const number of [0, 2, 4]) {
      const faultAt = { number, fault: { code: 'ENOSPC', bytes }, also: null };
      const { files, outcomes, faultedAt } = await runFaulted(faultAt, false);
      const cut = { from: faultedAt, until: faultedAt + 4, tornEvery: Infinity };
      await checkImages(imagesOf(files, { ...cut, seeds: 12, pageBytes: 512 }), outcomes, 9);
    }
  }
});

test('after a failed sync nothing is acknowledged, reads go on, and the next start serves',
  async () => {
    const { store, files } = await openOn(new Disk());
    const outcomes = await runSteps(store, createSteps(84, 6, 'a'), 3, () => files.history.length);
    const before = contentOf(store);
    files.onCall = ({ kind }) => kind === 'datasync' ? { code: 'EIO' } : null;
    outcomes.push(...await runSteps(store, createSteps(85, 9, 'b'), 3, () => files.history.length));
    files.onCall = () => null;
    outcomes.push(...await runSteps(store, createSteps(86, 9, 'c'), 3, () => files.history.length));
    const late = outcomes.filter(({ step }) => /^[bc]/.test(step.name));
    assert.ok(late.every(({ error }) => error !== null));
    assert.ok(late.some(({ error }) =>
      error instanceof AppError && error.code === 'unknown_outcome'));
    assert.notEqual(store.failure, null);
    assert.deepEqual(contentOf(store), before);
    const generation = store.statistics.generation;
    await store.close().catch(() => undefined);
    const kept = files.disk.crash({ kind: 'kept' });
    const next = await openOn(kept);
    assert.ok(next.store.statistics.generation > generation, 'a new generation is written');
    await checkGoesOn(next.store);
    await next.store.close();
    const from = files.history.length;
    await checkImages(imagesOf(files, { seeds: 20, pageBytes: 64, from }), outcomes, 1);
  });

test('a write that fails for another reason than room is told as such, and passes', async () => {
  const { store, files, clock } = await openOn(new Disk());
  files.onCall = ({ kind }) => kind === 'write' ? { code: 'EIO', bytes: 30 } : null;
  const [outcome] = await runSteps(store, createSteps(94, 1), 1, () => files.history.length);
  assert.ok(outcome?.error instanceof AppError);
  assert.equal(outcome.error.code, 'unavailable');
  assert.match(store.failure ?? '', /EIO/);
  files.onCall = () => null;
  await clock.advance(3000);
  await checkGoesOn(store);
  await store.close();
});

test('a full disk refuses writers, loses nothing, and service resumes by itself within 3 s',
  async () => {
    for (let room = 0; room < 400; room += 37) {
      const { store, files, clock } = await openOn(new Disk());
      const operations = (): number => files.history.length;
      const outcomes = await runSteps(store, createSteps(87, 6, 'a'), 3, operations);
      files.bytesMax = files.disk.bytesUsed + room;
      outcomes.push(...await runSteps(store, createSteps(88, 12, 'b'), 3, operations));
      assert.notEqual(store.failure, null);
      const full = outcomes.filter(({ error }) =>
        error instanceof AppError && error.code === 'storage_full');
      assert.ok(full.length > 0);
      await clock.advance(3000);
      assert.notEqual(store.failure, null, 'there is still no room');
      files.bytesMax = Infinity;
      await clock.advance(3000);
      assert.equal(store.failure, null, 'there is room again');
      outcomes.push(...await runSteps(store, createSteps(89, 4, 'c'), 1, operations));
      const closedAt = files.history.length;
      await store.close();
      const { initial, history } = files;
      const images = imagesOf({ initial, history: history.slice(0, closedAt) },
        { seeds: 3, pageBytes: 64, from: closedAt });
      await checkImages(images, outcomes, 1);
    }
  });

test('a compaction that finds no room leaves the store as it was and nothing behind', async () => {
  const { store, files, clock } = await openOn(new Disk());
  await runSteps(store, createSteps(90, 12), 3, () => 0);
  const before = contentOf(store);
  const paths = files.disk.paths.sort();
  for (const room of [0, 100, 400, 900]) {
    files.bytesMax = files.disk.bytesUsed + room;
    await store.compact().catch((error: unknown) => assert.ok(error instanceof AppError));
    assert.deepEqual(contentOf(store), before);
  }
  assert.deepEqual(files.disk.paths.sort().slice(0, paths.length), paths);
  files.bytesMax = Infinity;
  await clock.advance(5000);
  await store.compact();
  assert.deepEqual(contentOf(store), before);
  await store.close();
});
