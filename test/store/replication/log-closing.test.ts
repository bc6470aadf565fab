/** A log that data:move has closed: nobody can write to it any more, and who tries is told why. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { AppError } from '../../../src/base/errors.ts';
import { createNodeFiles } from '../../../src/store/disk/files.ts';
import { JournalLineEncoder } from '../../../src/store/journal/journal-line-encoder.ts';
import {
  loadContents, verifyEngine, withEngine,
} from '../../../src/store/moving/engine-contents.ts';
import { encodeClosing } from '../../../src/store/replication/log-closing.ts';
import {
  LOG_START, decodeEntries, encodeEntry, findBreak,
} from '../../../src/store/replication/log-entry.ts';
import type { OpenedStore } from '../../../src/store/store.ts';
import { SharedStoreRig, put } from '../../support/shared-store-rig.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';
import { turnsUntil } from '../../support/turns.ts';
import { COLLECTIONS } from '../../support/workload.ts';

const CLOSING = { to: 'postgres://other/db', at: '2026-01-02T03:04:05.000Z' };
const WHERE =
  /closed at 2026-01-02T03:04:05\.000Z.* records to postgres:\/\/other\/db: go on there/;

const rig = new SharedStoreRig();

const has = (store: OpenedStore, id: string): boolean =>
  store.collection('books').findBytes(id) !== undefined;

/** As data:move does it, unless others were first. */
async function closeLog(): Promise<boolean> {
  const { engine } = rig;
  const session = await engine.connect();
  const head = await session.head();
  assert.ok(head !== null);
  const isClosed = await session.append(head.log, head, encodeClosing(head, CLOSING));
  await session.close();
  return isClosed;
}

for (const isLocking of [true, false]) {
  const how = isLocking ? 'a lock' : 'a comparison';
  test(`a write behind the end of a log is refused, over ${how}, and tells where it went`,
    async () => {
      rig.engine.isLocking = isLocking;
      const node = await rig.open();
      await node.transact(put('a'));
      // Before it hears of it, as when it wakes.
      const outcome = closeLog().then(() => node.transact(put('b')))
        .then(() => 'written', (error: unknown) => error);
      let refusal: unknown = null;
      void outcome.then((error) => refusal = error);
      await rig.until(() => refusal !== null);
      assert.ok(refusal instanceof AppError && refusal.code === 'unavailable', String(refusal));
      assert.match(refusal.message, WHERE);
      assert.deepEqual([has(node, 'a'), has(node, 'b')], [true, false]);
      assert.equal(rig.engine.visible.length, 2);
    });
}

test('a node that follows a log to its end is not writable, reads on, and starts no more',
  async () => {
    const files = new SimulatedFiles();
    const [one, two] = [await rig.open(files), await rig.open()];
    await one.transact(put('a'));
    await one.compact();
    await one.transact(put('b'));
    await turnsUntil(() => has(two, 'b'));
    assert.ok(await closeLog());
    for (const node of [one, two]) await rig.until(() => node.failure !== null);
    for (const node of [one, two]) {
      assert.match(node.failure ?? '', WHERE);
      assert.ok(has(node, 'a') && has(node, 'b'));
    }
    // No image may hold the end, or a node that starts from one would not see it.
    await one.close();
    await assert.rejects(rig.open(files), { code: 'misconfigured', message: WHERE });
    await assert.rejects(rig.open(), { code: 'misconfigured', message: WHERE });
  });

test('what a closed log holds is read without its end, and verified', async () => {
  const node = await rig.open();
  for (const id of ['a', 'b']) await node.transact(put(id));
  const before = rig.engine.head;
  assert.ok(await closeLog());
  const scratch = createTemporaryFolder();
  const access = {
    engine: rig.engine, files: createNodeFiles(), specs: COLLECTIONS, clock: systemClock,
    scratch, mayCreate: false,
  };
  const image = await withEngine(access, loadContents);
  assert.deepEqual([image.position.sequence, image.position.chain, image.closing],
    [before?.sequence, before?.chain, CLOSING]);
  const { notes, records } = await withEngine(access, verifyEngine);
  assert.equal(records['books'], 2);
  assert.match(notes.join(), WHERE);
});

const NONE = new Map();
const putBook = (id: string) =>
  [{ collection: 'books', id, bytes: Buffer.from(`{"id":"${id}"}`) }];
const entry = encodeEntry(new JournalLineEncoder(), LOG_START, [putBook('a'), putBook('b')]);

test('an entry comes back as its transactions', () => {
  assert.deepEqual(decodeEntries([entry], NONE), [
    { sequence: 1, operations: putBook('a') }, { sequence: 2, operations: putBook('b') },
  ]);
});

test('an entry with fewer or more transactions than it says is damaged', () => {
  for (const sequence of [1, 3]) {
    assert.throws(() => decodeEntries([{ ...entry, sequence }], NONE), { code: 'damaged' });
  }
});

test('a byte that was changed is found by its line', () => {
  const lines = Buffer.from(entry.lines.toString().replace('{"id":"b"}', '{"id":"c"}'));
  assert.throws(() => decodeEntries([{ ...entry, lines }], NONE), { code: 'damaged' });
  assert.throws(() => decodeEntries([{ ...entry, lines: entry.lines.subarray(0, -1) }], NONE),
    { code: 'damaged' });
});

test('lines of other numbers, cut off or with anything else between are damaged', () => {
  const encoder = new JournalLineEncoder();
  encoder.addNote(2, { mark: true });
  const note = Buffer.from(encoder.bytes);
  const { lines } = entry;
  for (const bad of [
    lines.subarray(0, -9), lines.subarray(1), Buffer.concat([lines, Buffer.from('\n')]),
    Buffer.concat([lines, note]),
  ]) assert.throws(() => decodeEntries([{ ...entry, lines: bad }], NONE), { code: 'damaged' });
  assert.throws(() => decodeEntries([{ ...entry, first: 2 }], NONE), { code: 'damaged' });
});

test('an entry follows one position', () => {
  assert.equal(findBreak(LOG_START, entry), null);
  assert.match(findBreak({ ...LOG_START, chain: 'f' }, entry) ?? '', /does not continue/);
  assert.match(findBreak(LOG_START, { ...entry, batchId: 'other' }) ?? '', /does not continue/);
  const shorter = { ...entry, lines: entry.lines.subarray(3) };
  assert.match(findBreak(LOG_START, shorter) ?? '', /does not continue/);
});

test('an entry with the right chain does not follow at another sequence', () => {
  assert.match(findBreak(LOG_START, { ...entry, first: 2 }) ?? '', /2 to 2 where 1 is due/);
  assert.match(findBreak({ ...LOG_START, sequence: 1 }, entry) ?? '', /1 to 2 where 2 is due/);
  assert.match(findBreak(LOG_START, { ...entry, sequence: 0 }) ?? '', /1 to 0 where 1 is due/);
});
