import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { writeBackup } from '../../src/store/backup/backup.ts';
import type { CollectionSpec, Transaction } from '../../src/store/store-port.ts';
import { openStore, type OpenedStore } from '../../src/store/store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SimulatedFiles } from '../support/simulated-files.ts';

const specs: readonly CollectionSpec[] = [
  { name: 'books', key: 'id' },
  { name: 'hooks', key: 'identifier', unique: ['path'] },
  { name: 'named', key: 'id', unique: ['path', 'name'], hasNames: true },
];

function open(files: SimulatedFiles, clock = new ManualClock()) {
  return openStore({ directory: '/data', files, specs, clock, logger: silentLogger });
}

function book(id: string, title = 'T'): string {
  return JSON.stringify({ id, title });
}

function putBook(id: string, title?: string) {
  return (transaction: Transaction) => transaction.put('books', id, book(id, title));
}

function hook(identifier: string, path: string): string {
  return JSON.stringify({ identifier, path });
}

test('a committed record is read, walked, and there again after a restart', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  const ids = ['b', 'a', 'c', 'ab'];
  await Promise.all(ids.map((id) => store.transact(putBook(id, id.toUpperCase()))));
  await store.transact((transaction) => transaction.delete('books', 'c'));
  await store.close();
  const reopened = await open(files);
  const books = reopened.collection('books');
  const walk = books.walk();
  assert.deepEqual([walk.next(), walk.next(), walk.next(), walk.next()]
    .map((slot) => books.idAt(slot)), ['a', 'ab', 'b', undefined]);
  assert.equal(books.find('ab')?.bytes.toString(), book('ab', 'AB'));
  assert.equal(books.find('c'), undefined);
  const runs = Buffer.concat(books.walk().nextSlices(1e6)).toString();
  assert.deepEqual(JSON.parse(`[${runs}]`).map(({ id }: { id: string }) => id), ['a', 'ab', 'b']);
  await reopened.close();
});

test('a store that cannot be written tells the end of the journal that was known before',
  async () => {
    const files = new SimulatedFiles();
    const store = await open(files);
    await store.transact(putBook('a'));
    assert.deepEqual(store.journalEnd, { generation: 1, sequence: 1 });
    await store.close();
    files.disk.replace('/data/journal-000001.jsonl',
      Buffer.concat([files.disk.read('/data/journal-000001.jsonl'), Buffer.from('{"torn')]));
    files.bytesMax = files.disk.bytesUsed + 3;
    const { paths } = files.disk;
    for (const journalEnd of [null, { generation: 1, sequence: 1 }]) {
      const readOnly = await openStore({
        directory: '/data', files, specs, logger: silentLogger, mayOnlyRead: true, journalEnd,
      });
      await assert.rejects(readOnly.transact(putBook('b')), { code: 'storage_full' });
      await readOnly.close();
      assert.deepEqual(readOnly.journalEnd, journalEnd);
      assert.deepEqual(files.disk.paths, paths, 'what did not fit is removed');
    }
  });

type Named = { readonly path?: string; readonly name?: string };

function putNamed(id: string, members: Named) {
  return (transaction: Transaction) =>
    transaction.put('named', id, JSON.stringify({ id, ...members }));
}

const taken = (message: string) =>
  ({ code: 'conflict', message: `${message}: choose another, or change what has it` });

test('a value is unique among all unique members, and free once it is given up', async () => {
  const files = new SimulatedFiles();
  let store = await open(files);
  const refuse = (id: string, members: Named, message: string): Promise<void> =>
    assert.rejects(store.transact(putNamed(id, members)), taken(message));
  await store.transact(putNamed('a', { path: 'x', name: 'x' }));
  await store.transact(putNamed('b', { path: 'y' }));
  for (const isReopened of [false, true]) {
    if (isReopened) {
      await store.compact();
      await store.close();
      store = await open(files);
    }
    await refuse('c', { path: 'x' }, 'path "x" is already taken');
    await refuse('c', { path: 'z', name: 'x' }, 'name "x" is already taken');
    await refuse('b', { path: 'y', name: 'x' }, 'name "x" is already taken');
    await refuse('c', { path: 'z', name: 'y' }, 'name "y" is already taken, as another\'s path');
  }
  await store.transact(putNamed('b', { path: 'y', name: 'why' }));
  await refuse('c', { path: 'why' }, 'path "why" is already taken, as another\'s name');
  await store.transact(putNamed('b', { path: 'y' }));
  await store.transact((transaction) => transaction.delete('named', 'a'));
  await store.transact(putNamed('c', { path: 'why', name: 'x' }));
  await store.close();
});

test('what is given up and taken in transactions that are under way is told apart', async () => {
  const store = await open(new SimulatedFiles());
  await store.transact(putNamed('a', { name: 'x' }));
  const results = await Promise.allSettled([
    store.transact(putNamed('b', { name: 'x' })),
    store.transact(putNamed('a', { name: 'y' })),
    store.transact(putNamed('b', { path: 'x' })),
    store.transact(putNamed('c', { name: 'x' })),
    store.transact(putNamed('c', { path: 'y' })),
    store.transact((transaction) => {
      transaction.delete('named', 'a');
      putNamed('c', { path: 'y' })(transaction);
    }),
  ]);
  assert.deepEqual(results.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled']);
  assert.deepEqual([...store.collection('named').idByName].sort(), [['x', 'b'], ['y', 'c']]);
  await store.close();
});

test('a transaction finds a record by its id first, then by a name it has by then', async () => {
  const store = await open(new SimulatedFiles());
  await store.transact(putNamed('a', { path: 'p', name: 'n' }));
  const renaming = store.transact(putNamed('a', { path: 'p', name: 'a2' }));
  const names = ['a', 'p', 'n', 'a2', 'nobody'];
  const found = await store.transact((transaction) =>
    names.map((name) => transaction.findId('named', name)));
  assert.deepEqual(found, ['a', 'a', undefined, 'a', undefined]);
  await renaming;
  await store.transact(putNamed('p2', { path: 'other' }));
  await store.transact(putNamed('b', { path: 'p2' }));
  const found2 = await store.transact((transaction) => transaction.findId('named', 'p2'));
  assert.equal(found2, 'p2');
  const hooks = await store.transact((transaction) => {
    transaction.put('hooks', 'h', hook('h', 'segment'));
    return transaction.findId('hooks', 'segment');
  });
  assert.equal(hooks, undefined, 'unique values of other collections are no names');
  assert.equal(store.collection('hooks').idByName.size, 0);
  await store.close();
});

test('when the batch they rest on fails, refused writers run again', async () => {
  const files = new SimulatedFiles();
  const store = await open(files);
  let writesToFail = 1;
  files.onCall = ({ kind }) => {
    if (kind !== 'write' || writesToFail === 0) return null;
    writesToFail -= 1;
    return { code: 'ENOSPC', bytes: 20 };
  };
  const results = await Promise.allSettled(Array.from({ length: 10 }, (_, index) =>
    store.transact((transaction) =>
      transaction.put('hooks', `h${index}`, hook(`h${index}`, 'same')))));
  const codes = results.map((result) =>
    result.status === 'rejected' ? result.reason.code : 'done').sort();
  assert.deepEqual(codes, [...Array(8).fill('conflict'), 'done', 'storage_full']);
  assert.equal(store.failure, null);
  await store.close();
});

test('readers see nothing that is not on disk', async () => {
  const store = await open(new SimulatedFiles());
  const writing = store.transact(putBook('a'));
  assert.equal(store.collection('books').find('a'), undefined);
  const seen = await store.transact((transaction) => transaction.find('books', 'a')?.toString());
  assert.equal(seen, book('a'));
  assert.ok(store.collection('books').find('a'));
  await writing;
  await store.close();
});

const NOTES: readonly (readonly [string, (store: OpenedStore, clock: ManualClock) => unknown])[] = [
  ['a mark', (_, clock) => clock.advance(1000)],
  ['the step to another journal', (store) =>
    assert.rejects(store.compact(), { code: 'unknown_outcome' })],
];
for (const [what, write] of NOTES) {
  test(`what gathers while the sync of ${what} fails is not acknowledged`, async () => {
    const files = new SimulatedFiles();
    const clock = new ManualClock();
    const store = await open(files, clock);
    await store.transact(putBook('a'));
    const gathering: Promise<unknown>[] = [];
    let seen: Buffer | undefined = Buffer.from(book('b'));
    files.onCall = ({ kind, path }) => {
      const isJournal = path === '/data/journal-000001.jsonl';
      if (kind !== 'datasync' || !isJournal || gathering.length > 0) return null;
      gathering.push(
        assert.rejects(store.transact(putBook('b')), { code: 'unknown_outcome' }),
        // It has read what is staged, and reads again what is left.
        store.transact((transaction) => assert.deepEqual(transaction.find('books', 'b'), seen)));
      seen = undefined;
      return { code: 'EIO' };
    };
    await write(store, clock);
    assert.equal(gathering.length, 2);
    await Promise.all(gathering);
    assert.equal(store.collection('books').find('b'), undefined);
    await store.close();
  });
}

test('room after a failed sync does not bring writing back', async () => {
  const files = new SimulatedFiles();
  const clock = new ManualClock();
  const store = await open(files, clock);
  await store.transact(putBook('a'));
  files.onCall = ({ kind }) => kind === 'write' ? { code: 'ENOSPC', bytes: 20 } : null;
  await assert.rejects(store.transact(putBook('b')), { code: 'storage_full' });
  await clock.advance(1500);
  files.onCall = ({ kind, path }) =>
    kind === 'datasync' && path.includes('journal') ? { code: 'EIO' } : null;
  await assert.rejects(store.transact(putBook('c')), { code: 'unknown_outcome' });
  files.onCall = () => null;
  const failure = store.failure;
  await clock.advance(5000);
  assert.equal(store.failure, failure);
  await assert.rejects(store.transact(putBook('d')), { code: 'unknown_outcome' });
  await assert.rejects(store.compact(), { code: 'unknown_outcome' });
  assert.deepEqual([...files.disk.paths].filter((path) => path.endsWith('probe.tmp')), []);
  await store.close();
});

/** What a restore of a backup of this moment serves. */
async function idsInBackup(files: SimulatedFiles, store: OpenedStore): Promise<string[]> {
  const backup = await store.openBackupSources();
  await writeBackup(files, backup, '/copy', 0);
  backup.close();
  const copy = await openStore({ directory: '/copy', files, specs, logger: silentLogger });
  const books = copy.collection('books');
  const walk = books.walk();
  const ids = Array.from({ length: books.size }, () => books.idAt(walk.next()) ?? '');
  await copy.close();
  return ids;
}

test('a backup after a failed sync holds what was committed, and not what lies behind it',
  async () => {
    const files = new SimulatedFiles();
    const store = await open(files);
    await store.transact(putBook('a'));
    files.onCall = ({ kind }) => kind === 'datasync' ? { code: 'EIO' } : null;
    await assert.rejects(store.transact(putBook('b')), { code: 'unknown_outcome' });
    files.onCall = () => null;
    assert.deepEqual(await idsInBackup(files, store), ['a']);
    await store.close();
  });

for (const [what, failing] of [
  ['was not named', ['sync-directory', 'unlink']], ['was not gone on in', ['datasync']],
] as const) {
  test(`a backup holds what was committed where a new journal ${what}`, async () => {
    const files = new SimulatedFiles();
    const store = await open(files);
    await store.transact(putBook('a'));
    let isJournalMade = false;
    files.onCall = ({ kind, path }) => {
      isJournalMade ||= kind === 'sync-directory';
      const isFailing = failing.some((one) => one === kind)
        && (kind !== 'datasync' || (isJournalMade && path === '/data/journal-000001.jsonl'));
      return isFailing ? { code: 'EIO' } : null;
    };
    await assert.rejects(store.compact());
    files.onCall = () => null;
    assert.ok(files.disk.paths.includes('/data/journal-000002.jsonl'));
    await store.transact(putBook('b')).catch(() => {});
    const committed = store.collection('books').size === 2 ? ['a', 'b'] : ['a'];
    assert.deepEqual(await idsInBackup(files, store), committed);
    await store.close();
  });
}

test('where nothing can be written the store is read and backed up, and a torn end stays',
  async () => {
    const files = new SimulatedFiles();
    const first = await open(files);
    await first.transact(putBook('a'));
    await first.close();
    const descriptor = files.openSync('/data/journal-000001.jsonl', 'append-existing');
    files.writeSync(descriptor, Buffer.from('{"sequence"'), files.sizeSync(descriptor));
    files.closeSync(descriptor);
    const calls = files.history.length;
    const refusal = new AppError('unavailable', 'it is mounted read-only');
    const store = await openStore({
      directory: '/data', files, specs, clock: new ManualClock(), logger: silentLogger, refusal,
    });
    assert.equal(store.collection('books').size, 1);
    assert.deepEqual(await store.transact((transaction) => transaction.listIds('books')), ['a']);
    await assert.rejects(store.transact(putBook('b')), refusal);
    await assert.rejects(store.compact(), refusal);
    assert.throws(() => store.checkWritable(), refusal);
    assert.equal(store.failure, refusal.message);
    const reader = await store.changes.since(0);
    assert.equal((await reader?.next(1))?.length, 1);
    reader?.close();
    assert.equal(files.history.length, calls, 'nothing on the disk has changed');
    assert.deepEqual(await idsInBackup(files, store), ['a']);
    await store.close();
    assert.deepEqual(files.openPaths, []);
  });
