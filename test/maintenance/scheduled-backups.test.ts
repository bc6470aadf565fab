/** Backups that a server makes by itself: of a real store, into real folders. */
import assert from 'node:assert/strict';
import {
  existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { checkOutsideData, checkRoom } from '../../src/maintenance/backup-folder.ts';
import { ScheduledBackups } from '../../src/maintenance/scheduled-backups.ts';
import type { BackupFailure } from '../../src/maintenance/scheduled-backups.ts';
import { verifyTar } from '../../src/store/backup/restore.ts';
import { createNodeFiles } from '../../src/store/disk/files.ts';
import type { Files } from '../../src/store/disk/files.ts';
import { openStore } from '../../src/store/store.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 27, 9);
const COLLECTIONS = [{ name: 'books', key: 'id' }] as const;

/** A wall clock that is set, over timers of which the test runs the newest. */
class SetClock implements Clock {
  wallMs = START_MS;
  steadyMs = 0;
  #run: (() => void) | null = null;

  now(): number {
    return this.wallMs;
  }

  monotonicMs(): number {
    return this.steadyMs;
  }

  startTimer(_delayMs: number, run: () => void): { cancel(): void } {
    this.#run = run;
    return { cancel: () => this.#run = null };
  }

  /** Time passes, and the timer that waits runs. False: none waits, as its owner is at work. */
  pass(durationMs: number): boolean {
    const run = this.#run;
    if (run === null) return false;
    this.wallMs += durationMs;
    this.steadyMs += durationMs;
    this.#run = null;
    run();
    return true;
  }

  get isWaiting(): boolean {
    return this.#run !== null;
  }
}

async function open({
  keep = 3, isMaker = () => true, isEmpty = () => false, files = createNodeFiles(),
}: {
  readonly keep?: number; readonly isMaker?: () => boolean; readonly isEmpty?: () => boolean;
  readonly files?: Files;
} = {}) {
  const folder = createTemporaryFolder();
  const [data, to] = [join(folder, 'data'), join(folder, 'backups')];
  const store = await openStore({
    directory: data, files: createNodeFiles(), specs: COLLECTIONS, logger: silentLogger,
  });
  await store.transact((transaction) => {
    for (let index = 0; index < 100; index += 1) {
      transaction.put('books', `b${index}`, JSON.stringify({ id: `b${index}`, title: 'Emma' }));
    }
  });
  const clock = new SetClock();
  const failures: BackupFailure[] = [];
  const create = (): ScheduledBackups => new ScheduledBackups({
    store, files, clock, log: silentLogger, isMaker, isEmpty, plan: { to, everyHours: 24, keep },
    onFailure: async (failure) => void failures.push(failure),
  });
  const backups = create();
  backups.start();
  /** Lets time pass, and waits until what is due then has been done. */
  const pass = async (durationMs: number): Promise<void> => {
    await until('the one before has ended', () => clock.isWaiting);
    clock.pass(durationMs);
    await until('it has been looked at', () => clock.isWaiting);
  };
  return { folder, data, to, store, clock, failures, backups, create, pass,
    names: () => readdirSync(to).sort() };
}

test('the first is made at once, is verified, and is its owner\'s alone', async () => {
  const { to, names, pass, backups, store } = await open();
  await pass(0);
  assert.deepEqual(names(), ['hookshelf-20261127T090000Z.tar']);
  const path = join(to, 'hookshelf-20261127T090000Z.tar');
  await verifyTar(createNodeFiles(), path);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(to).mode & 0o777, 0o700);
  assert.equal(backups.newestMs, START_MS);
  assert.equal(backups.status.newestAt, '2026-11-27T09:00:00.000Z');
  await backups.close();
  await store.close();
});

test('the next is due an interval after the newest there, whoever restarts', async () => {
  const { names, pass, backups, create, clock, store } = await open();
  await pass(0);
  await pass(24 * HOUR_MS - 1);
  assert.equal(names().length, 1);
  await backups.close();
  const next = create();
  next.start();
  await pass(0);
  assert.equal(names().length, 1);
  await pass(1);
  assert.deepEqual(names(), ['hookshelf-20261127T090000Z.tar', 'hookshelf-20261128T090000Z.tar']);
  await next.close();
  assert.ok(!clock.isWaiting);
  await store.close();
});

test('the oldest are deleted after a newer one is verified, and other files stay', async () => {
  const { to, names, pass, backups, store } = await open({ keep: 2 });
  await pass(0);
  const others = ['hookshelf-20200101T000000Z', 'hookshelf-20200101T000000Z.tar.gz', 'notes.txt',
    'my-hookshelf-20200101T000000Z.tar'];
  for (const name of others) writeFileSync(join(to, name), '');
  mkdirSync(join(to, 'hookshelf-20200102T000000Z.tar'));
  for (let day = 1; day < 4; day += 1) await pass(24 * HOUR_MS);
  assert.deepEqual(names(), [...others, 'hookshelf-20200102T000000Z.tar',
    'hookshelf-20261129T090000Z.tar', 'hookshelf-20261130T090000Z.tar'].sort());
  await backups.close();
  await store.close();
});

test('of empty data only the first is made, which pushes no other one out', async () => {
  let isEmpty = true;
  const { names, pass, backups, failures, store } =
    await open({ keep: 1, isEmpty: () => isEmpty });
  await pass(0);
  await pass(24 * HOUR_MS);
  assert.deepEqual(names(), ['hookshelf-20261127T090000Z.tar']);
  isEmpty = false;
  await pass(HOUR_MS - 1);
  assert.deepEqual(names(), ['hookshelf-20261127T090000Z.tar']);
  await pass(1);
  assert.deepEqual(names(), ['hookshelf-20261128T100000Z.tar']);
  assert.deepEqual(failures, []);
  await backups.close();
  await store.close();
});

test('a clock that is set back makes one more, and loses none', async () => {
  const { names, pass, backups, clock, store } = await open({ keep: 1 });
  await pass(0);
  clock.wallMs -= 10 * 24 * HOUR_MS;
  await pass(0);
  assert.deepEqual(names(), ['hookshelf-20261117T090000Z.tar', 'hookshelf-20261127T090000Z.tar']);
  await pass(HOUR_MS);
  assert.equal(names().length, 2);
  clock.wallMs += 10 * 24 * HOUR_MS;
  await pass(23 * HOUR_MS);
  assert.deepEqual(names(), ['hookshelf-20261128T090000Z.tar']);
  await backups.close();
  await store.close();
});

test('what a killed server left half written is removed, and counts for nothing', async () => {
  const { to, names, pass, backups, store } = await open();
  mkdirSync(to);
  writeFileSync(join(to, 'hookshelf-20261127T085959Z.tar.1795770000000.part'), 'half');
  await pass(0);
  assert.deepEqual(names(), ['hookshelf-20261127T090000Z.tar']);
  await backups.close();
  await store.close();
});

test('over an engine a part that another node may still write stays for an hour', async () => {
  const { to, store, clock, names } = await open();
  mkdirSync(to, { recursive: true });
  const part = join(to, 'hookshelf-20261127T085959Z.tar.1795770000000.part');
  writeFileSync(part, 'half');
  const written = (ageMs: number): void => utimesSync(part, START_MS / 1000,
    (START_MS - ageMs) / 1000);
  const shared = { ...store, directory: store.directory, replica: { engine: 'simulated' },
    openStateSources: () => store.openStateSources() };
  for (const [ageMs, isLeft] of [[HOUR_MS - 1000, true], [HOUR_MS, false]] as const) {
    rmSync(join(to, 'hookshelf-20261127T090000Z.tar'), { force: true });
    written(ageMs);
    const backups = new ScheduledBackups({
      store: shared as never, files: createNodeFiles(), clock, log: silentLogger,
      isMaker: () => true, isEmpty: () => false, plan: { to, everyHours: 24, keep: 3 },
      onFailure: async () => {},
    });
    backups.start();
    clock.pass(0);
    await until('it is made', () => backups.newestMs !== null && clock.isWaiting);
    assert.equal(names().some((name) => name.endsWith('.part')), isLeft);
    await backups.close();
  }
  await store.close();
});

test('a node that is not the maintainer makes none', async () => {
  let isMaintainer = false;
  const { to, pass, backups, store } = await open({ isMaker: () => isMaintainer });
  await pass(0);
  assert.ok(!existsSync(to));
  isMaintainer = true;
  await pass(60_000);
  assert.equal(readdirSync(to).length, 1);
  await backups.close();
  await store.close();
});

test('a node that is the maintainer no more says nothing of the backups', async () => {
  let isMaintainer = true;
  const { to, folder, pass, backups, store } = await open({ isMaker: () => isMaintainer });
  await pass(0);
  assert.equal(backups.newestMs, START_MS);
  renameSync(to, join(folder, 'elsewhere'));
  writeFileSync(to, '');
  await pass(24 * HOUR_MS);
  assert.notEqual(backups.status.failure, null);
  isMaintainer = false;
  await pass(60_000);
  assert.equal(backups.newestMs, null);
  assert.equal(backups.status.failure, null);
  await backups.close();
  await store.close();
});

test('one that does not read back as it was written fails, and deletes nothing', async () => {
  const real = createNodeFiles();
  let isBroken = false;
  const files = {
    ...real,
    write: (descriptor: number, source: Uint8Array, position: number) => {
      const bytes = isBroken && source.length > 200 ? Buffer.from(source).fill(0, 0, 100) : source;
      return real.write(descriptor, bytes, position);
    },
  };
  const { names, pass, backups, failures, store } = await open({ keep: 1, files });
  await pass(0);
  isBroken = true;
  await pass(24 * HOUR_MS);
  assert.deepEqual(names(), ['hookshelf-20261127T090000Z.tar']);
  assert.equal(failures.length, 1);
  assert.match(failures[0]?.reason ?? '', /is not the file that was backed up|not a whole tar/);
  assert.equal(backups.status.failure?.at, '2026-11-28T09:00:00.000Z');
  // It is tried again within the hour, and a success ends the failure.
  await pass(HOUR_MS / 2);
  assert.equal(failures.length, 1);
  isBroken = false;
  await pass(HOUR_MS / 2);
  assert.deepEqual(names(), ['hookshelf-20261128T100000Z.tar']);
  assert.equal(backups.status.failure, null);
  await backups.close();
  await store.close();
});

test('a disk that fills up while one is written fails, and keeps nothing of it', async () => {
  const real = createNodeFiles();
  let freeBytes = Infinity;
  const files = {
    ...real,
    write: async (descriptor: number, source: Uint8Array, position: number) => {
      freeBytes -= source.length;
      if (freeBytes >= 0) return real.write(descriptor, source, position);
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
  };
  const { names, pass, backups, failures, store } = await open({ keep: 1, files });
  await pass(0);
  freeBytes = 2000;
  await pass(24 * HOUR_MS);
  assert.deepEqual(names(), ['hookshelf-20261127T090000Z.tar']);
  assert.match(failures[0]?.reason ?? '', /no space left.*; free some room on the disk/);
  freeBytes = Infinity;
  await pass(HOUR_MS);
  assert.deepEqual(names(), ['hookshelf-20261128T100000Z.tar']);
  await backups.close();
  await store.close();
});

test('a backup is copied and verified in pieces, so that none holds the loop', async () => {
  const real = createNodeFiles();
  let bytesMax = 0;
  const files = {
    ...real,
    read: async (descriptor: number, target: Uint8Array, position: number) => {
      bytesMax = Math.max(bytesMax, target.length);
      return real.read(descriptor, target, position);
    },
  };
  const { pass, backups, store } = await open({ files });
  await store.transact((transaction) => {
    transaction.put('books', 'large', JSON.stringify({ id: 'large', title: 'x'.repeat(1 << 20) }));
  });
  await pass(0);
  assert.equal(bytesMax, 1 << 18);
  await backups.close();
  await store.close();
});

test('a folder that the server may not write to says who has to be let in', async () => {
  const files = {
    ...createNodeFiles(),
    openSync: (): never => {
      throw Object.assign(new Error('permission denied, open'), { code: 'EACCES' });
    },
  };
  const { pass, backups, failures, store } = await open({ files });
  await pass(0);
  assert.match(failures[0]?.reason ?? '', /permission denied.* as user \d+/);
  await backups.close();
  await store.close();
});

test('less room than a backup takes is seen before anything is written', async () => {
  const folder = createTemporaryFolder();
  await checkRoom(folder, 1);
  await assert.rejects(checkRoom(folder, 2 ** 60),
    { code: 'storage_full', message: /has room for .*: remove what .* lower backup\.keep/ });
});

test('a folder whose parent is not there fails, with what to do', async () => {
  const { folder, to, pass, backups, failures, store } = await open();
  writeFileSync(to, 'a file');
  await pass(0);
  assert.match(failures[0]?.reason ?? '', /backup\.to .* cannot be made .* mount its disk/);
  rmSync(to);
  await pass(HOUR_MS);
  assert.equal(readdirSync(to).length, 1);
  assert.ok(existsSync(folder));
  await backups.close();
  await store.close();
});

test('a stop gives up what is being written, and leaves nothing of it', async () => {
  const real = createNodeFiles();
  let onWrite: () => void = () => {};
  const writing = new Promise<void>((resolve) => onWrite = resolve);
  const files = {
    ...real,
    write: async (descriptor: number, source: Uint8Array, position: number) => {
      onWrite();
      return real.write(descriptor, source, position);
    },
  };
  const { to, clock, backups, failures, store } = await open({ files });
  clock.pass(0);
  await writing;
  await backups.close();
  assert.deepEqual(readdirSync(to), []);
  assert.deepEqual(failures, []);
  await store.close();
});

test('within the data directory is refused, through links as well', () => {
  const folder = createTemporaryFolder();
  const data = join(folder, 'data');
  mkdirSync(join(data, 'inner'), { recursive: true });
  mkdirSync(join(folder, 'elsewhere'));
  symlinkSync(data, join(folder, 'link'));
  symlinkSync(join(data, 'inner'), join(folder, 'elsewhere', 'way'));
  const paths = ['data', 'data/inner', 'data/new/below', 'link', 'link/new', 'elsewhere/way/new'];
  for (const path of paths) {
    assert.throws(() => checkOutsideData(join(folder, path), data, '--to'),
      { code: 'usage', message: /is within the data directory/ }, path);
  }
  const newData = join(folder, 'new');
  assert.throws(() => checkOutsideData(join(newData, 'backups'), newData, '--to'),
    { code: 'usage' });
  for (const path of ['elsewhere', 'data2', 'elsewhere/new', '.']) {
    checkOutsideData(join(folder, path), data, '--to');
  }
});
