import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { FailureLog } from '../../../src/store/journal/failure-log.ts';
import {
  createJournalFile, nameJournalFile, startJournalFile,
} from '../../../src/store/journal/journal-file.ts';
import { BlockingPolicy, JournalWriter } from '../../../src/store/journal/journal-writer.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

const put = (id: string) => [{ collection: 'books', id, bytes: Buffer.from(`{"id":"${id}"}`) }];

async function openWriter() {
  const files = new SimulatedFiles();
  files.makeDirectorySync('/data');
  const clock = new ManualClock();
  const failures: string[] = [];
  const writer = new JournalWriter({
    file: await createJournalFile(files, '/data', 1, 0), sequence: 0, clock,
    failureLog: new FailureLog(clock, silentLogger, 'the disk'),
    onFailure: (kind) => failures.push(kind),
  });
  return { files, writer, failures, clock };
}

/** Appends a transaction; how that ended, and whether its operations were asked for. */
async function append(writer: JournalWriter, id: string) {
  let error: AppError | null | undefined;
  let isCollected = false;
  await writer.append({
    collectOperations() {
      isCollected = true;
      return [put(id)];
    },
    onEnded: (result) => { error = result; },
  });
  return { code: error === null ? null : error?.code, isCollected };
}

test('once a sync has failed nothing is written any more, not even what was waiting', async () => {
  const { files, writer, failures } = await openWriter();
  assert.deepEqual(await append(writer, 'a'), { code: null, isCollected: true });
  files.onCall = ({ kind }) => kind === 'datasync' ? { code: 'EIO' } : null;
  const marking = writer.writeMark();
  const waiting = append(writer, 'b');
  assert.equal(await marking, false);
  files.onCall = () => null;
  const { length } = files.history;
  assert.deepEqual(await waiting, { code: 'unknown_outcome', isCollected: false });
  writer.clearFailure();
  assert.deepEqual(await append(writer, 'c'), { code: 'unknown_outcome', isCollected: false });
  assert.deepEqual([failures, writer.sequence, files.history.length], [['unknown'], 1, length]);
});

test('a journal whose end could not be synced is not continued in another one', async () => {
  const { files, writer, failures } = await openWriter();
  await append(writer, 'a');
  const next = await nameJournalFile(files, '/data', 2);
  await startJournalFile(files, '/data', next, writer.sequence);
  files.onCall = ({ kind }) => kind === 'datasync' ? { code: 'EIO' } : null;
  await assert.rejects(writer.runExclusively(() => writer.switchTo(next)),
    { code: 'unknown_outcome' });
  assert.deepEqual([failures, writer.file.generation], [['unknown'], 1]);
});

test('a refused write is no reason to refuse the next one', async () => {
  const { files, writer, failures } = await openWriter();
  files.onCall = ({ kind }) => kind === 'write' ? { code: 'ENOSPC', bytes: 5 } : null;
  assert.equal((await append(writer, 'a')).code, 'storage_full');
  files.onCall = () => null;
  assert.equal((await append(writer, 'b')).code, null);
  assert.deepEqual([failures, writer.sequence, writer.failure], [['refused'], 1, null]);
});

test('generations of journals rise', async () => {
  const { files, writer } = await openWriter();
  const other = await createJournalFile(files, '/data', 0, 0);
  await assert.rejects(writer.runExclusively(() => writer.switchTo(other)),
    { name: 'AssertionError' });
});

test('a closed journal is not written', async () => {
  const { files, writer } = await openWriter();
  await writer.close();
  const { length } = files.history;
  assert.throws(() => writer.file.appendBlocking(Buffer.from('a')), { name: 'AssertionError' });
  await assert.rejects(writer.file.append(Buffer.from('a')), { name: 'AssertionError' });
  assert.equal(files.history.length, length);
});

test('a write that is under way when the journal closes is followed by no mark', async () => {
  const { writer, clock } = await openWriter();
  const appending = append(writer, 'a');
  await writer.close();
  assert.deepEqual([(await appending).code, clock.timerCount], [null, 0]);
});

test('the lines of a large batch are made in several turns', async () => {
  const { files, writer } = await openWriter();
  let turns = 0;
  let isOver = false;
  const countTurn = (): void => {
    turns += 1;
    if (!isOver && turns < 1000) setImmediate(countTurn);
  };
  let turnsBeforeWrite: number | null = null;
  files.onCall = ({ kind }) => {
    if (kind === 'write') turnsBeforeWrite ??= turns;
    return null;
  };
  const record = Buffer.from(`{"id":"a","text":"${'x'.repeat(1 << 20)}"}`);
  setImmediate(countTurn);
  await writer.append({
    collectOperations: () => Array.from({ length: 5 }, () =>
      [{ collection: 'books', id: 'a', bytes: record }]),
    onEnded: () => { isOver = true; },
  });
  assert(Number(turnsBeforeWrite) >= 4, `${turnsBeforeWrite} turns`);
});

/** How many of `batches` block on a disk that takes `tookMs` each. */
function countBlocking(policy: BlockingPolicy, batches: number, tookMs: number): number {
  let blocking = 0;
  for (let batch = 0; batch < batches; batch += 1) {
    if (!policy.mayBlock(1000)) continue;
    blocking += 1;
    policy.recordDuration(tookMs);
  }
  return blocking;
}

test('a batch waits for a fast disk on the loop', () => {
  assert.equal(countBlocking(new BlockingPolicy(), 100, 0.15), 100);
});

test('batches rarely try a slow disk on the loop', () => {
  assert.equal(countBlocking(new BlockingPolicy(), 1000, 8), 4);
});

test('batches go back to the loop a while after one slow sync', () => {
  const policy = new BlockingPolicy();
  policy.recordDuration(5);
  assert.equal(countBlocking(policy, 1000, 0.15), 744);
});

test('a large batch never blocks the loop', () => {
  assert.equal(new BlockingPolicy().mayBlock(10 << 20), false);
});
