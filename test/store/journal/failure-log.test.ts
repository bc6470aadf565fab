import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { LogFields, Logger } from '../../../src/base/log.ts';
import { FailureLog } from '../../../src/store/journal/failure-log.ts';
import type { CollectionSpec, Transaction } from '../../../src/store/store-port.ts';
import { openStore, type OpenedStore } from '../../../src/store/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { SimulatedFiles } from '../../support/simulated-files.ts';

const specs: readonly CollectionSpec[] = [{ name: 'books', key: 'id' }];

type Opened = {
  readonly store: OpenedStore; readonly files: SimulatedFiles; readonly clock: ManualClock;
  /** `<level> <message>: <reason>`, a line each. */
  readonly lines: string[];
};

async function open(): Promise<Opened> {
  const files = new SimulatedFiles();
  const clock = new ManualClock();
  const lines: string[] = [];
  const at = (level: string) => (message: string, fields: LogFields = {}): void => {
    lines.push(`${level} ${message}: ${fields['reason'] ?? ''}`);
  };
  const logger: Logger = {
    debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error'),
  };
  const store = await openStore({ directory: '/data', files, specs, clock, logger });
  return { store, files, clock, lines };
}

const put = (transaction: Transaction): void => {
  transaction.put('books', 'a', '{"id":"a","title":"planted"}');
};

const STOPPED = /^error writing stopped until the disk takes it again: .*\(ENOSPC: [^)]*\); free s/;
const GOES_ON = /^info writing goes on: $/;

test('a full disk is one line with the reason, and its healing another', async () => {
  const { store, files, clock, lines } = await open();
  files.onCall = ({ kind }) => kind === 'write' ? { code: 'ENOSPC' } : null;
  for (let count = 0; count < 20; count += 1) {
    await assert.rejects(store.transact(put), { code: 'storage_full' });
    await clock.advance(700);
  }
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', STOPPED);
  files.onCall = () => null;
  await clock.advance(3000);
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', GOES_ON);
  assert.doesNotMatch(lines.join(), /planted/);
  await store.close();
  assert.equal(lines.length, 2);
});

test('whoever listens is told what the log says, until he ends it', async () => {
  const { store, files, clock } = await open();
  const told: (string | null)[] = [];
  const unlisten = store.onFailure((reason) => told.push(reason));
  for (let round = 0; round < 2; round += 1) {
    files.onCall = ({ kind }) => kind === 'write' ? { code: 'ENOSPC' } : null;
    await assert.rejects(store.transact(put), { code: 'storage_full' });
    files.onCall = () => null;
    await clock.advance(3000);
  }
  assert.deepEqual(told.map((reason) => reason === null ? null : /ENOSPC/.test(reason)),
    [true, null, true, null]);
  unlisten();
  files.onCall = ({ kind }) => kind === 'write' ? { code: 'ENOSPC' } : null;
  await assert.rejects(store.transact(put), { code: 'storage_full' });
  assert.equal(told.length, 4);
  files.onCall = () => null;
  await clock.advance(3000);
  await store.close();
});

test('at the edge of a full disk there is at most a line a second, and the last one is true',
  async () => {
    const { store, files, clock, lines } = await open();
    for (let count = 0; count < 100; count += 1) {
      const isFull = count % 2 === 0;
      files.onCall = ({ kind }) => isFull && kind === 'write' ? { code: 'ENOSPC' } : null;
      await store.transact(put).catch(() => {});
      await clock.advance(10);
    }
    assert.ok(lines.length >= 1 && lines.length <= 2, lines.join('\n'));
    files.onCall = ({ kind }) => kind === 'write' ? { code: 'ENOSPC' } : null;
    await store.transact(put).catch(() => {});
    await clock.advance(5000);
    assert.match(lines.at(-1) ?? '', STOPPED);
    files.onCall = () => null;
    await store.transact(put);
    await store.close();
    assert.match(lines.at(-1) ?? '', GOES_ON);
    assert.ok(lines.length <= 7, lines.join('\n'));
  });

test('a failed sync is said at once, and once', async () => {
  const { store, files, clock, lines } = await open();
  files.onCall = ({ kind }) => kind === 'write' ? { code: 'ENOSPC' } : null;
  await assert.rejects(store.transact(put), { code: 'storage_full' });
  files.onCall = ({ kind, path }) =>
    kind === 'datasync' && path.includes('journal') ? { code: 'EIO' } : null;
  await assert.rejects(store.transact(put), { code: 'unknown_outcome' });
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', /^error writing stopped for good: .*could not be synced.*\(EIO/);
  files.onCall = () => null;
  await assert.rejects(store.transact(put), { code: 'unknown_outcome' });
  await clock.advance(5000);
  await store.close();
  assert.equal(lines.length, 2, lines.join('\n'));
});

test('how long writing stopped counts from the first reason, not from the last', async () => {
  const clock = new ManualClock();
  const stopped: unknown[] = [];
  const info = (_: string, fields: LogFields = {}): void => void stopped.push(fields['stoppedMs']);
  const log = new FailureLog(clock, { ...silentLogger, info }, 'the engine');
  log.setFailure(new AppError('unavailable', 'away'));
  await clock.advance(60_000);
  log.setFailure(new AppError('storage_full', 'no room'));
  await clock.advance(2000);
  log.setFailure(null);
  log.close();
  assert.deepEqual(stopped, [62_000]);
});
