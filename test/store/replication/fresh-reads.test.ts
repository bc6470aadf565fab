import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { FreshReads } from '../../../src/store/replication/fresh-reads.ts';
import { someTurns } from '../../support/turns.ts';

let reads: FreshReads;

beforeEach(() => {
  reads = new FreshReads(() => {});
});

/** Adds a reader; the list gets its name once it is resolved. */
function addReader(name: string, resolved: string[]): Promise<void> {
  return reads.catchUp().then(() => void resolved.push(name));
}

const proveNothing: readonly (readonly [string, () => Promise<boolean>])[] = [
  ['says no', async () => false],
  ['throws', async () => { throw new AppError('unavailable', 'the engine is away'); }],
];

for (const [outcome, run] of proveNothing) {
  test(`a reader waits on for the next proof after one that ${outcome}`, async () => {
    const resolved: string[] = [];
    const reader = addReader('reader', resolved);
    await reads.prove(run).catch(() => {});
    await someTurns(1);
    assert.deepEqual(resolved, []);
    assert.ok(reads.isAwaited);
    await reads.prove(async () => true);
    await reader;
    assert.ok(!reads.isAwaited);
  });
}

test('a reader that comes while a proof is under way needs another one', async () => {
  const resolved: string[] = [];
  const early = addReader('early', resolved);
  let late: Promise<void> = Promise.resolve();
  await reads.prove(async () => {
    late = addReader('late', resolved);
    return true;
  });
  await early;
  assert.deepEqual(resolved, ['early']);
  assert.ok(reads.isAwaited);
  await reads.prove(async () => true);
  await late;
});
