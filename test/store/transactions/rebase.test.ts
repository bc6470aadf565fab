import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { Journal, AppendRequest } from '../../../src/store/journal/journal-port.ts';
import { StoredCollection } from '../../../src/store/records/collection.ts';
import { ChangeFeed } from '../../../src/store/transactions/change-feed.ts';
import { GroupCommit } from '../../../src/store/transactions/group-commit.ts';
import { Staging } from '../../../src/store/transactions/staging.ts';
import type { Operation, Transaction } from '../../../src/store/store-port.ts';
import { turnsUntil } from '../../support/turns.ts';

/** A journal whose appends wait for the test to say how they end. */
class HeldJournal implements Journal {
  sequence = 0;
  failure: AppError | null = null;
  reloadError: AppError | null = null;
  isShared = false;
  isContended = false;
  batchBytesMax = Infinity;
  recordBytesMax = Infinity;
  catchUp = async (): Promise<void> => {};
  held: AppendRequest | null = null;
  readonly snapshots = { isRunning: false, writtenMs: null, write: async () => {} };
  readonly read = async () => null;

  append(append: AppendRequest): void {
    assert(this.held === null);
    this.held = append;
  }

  async next(): Promise<AppendRequest> {
    await turnsUntil(() => this.held !== null);
    const append = this.held;
    assert(append !== null);
    return append;
  }

  end(operations: readonly (readonly Operation[])[]): void {
    const append = this.held;
    this.held = null;
    this.sequence += operations.length;
    append?.onEnded(null);
  }

  refuse(error: AppError): void {
    const append = this.held;
    this.held = null;
    append?.onEnded(error);
  }

  async close(): Promise<void> {}
}

let journal: HeldJournal;
let books: StoredCollection;
let commit: GroupCommit;

beforeEach(() => begin(1e9));

function begin(stagedBytesMax: number): void {
  journal = new HeldJournal();
  books = new StoredCollection({ name: 'books', key: 'id', unique: ['title'] });
  const fail = (error: unknown): void => assert.fail(String(error));
  commit = new GroupCommit({
    journal, collections: new Map([['books', books]]), feed: new ChangeFeed(fail),
    staging: new Staging([books]), stagedBytesMax,
  });
}

function put(id: string, title: string) {
  return (transaction: Transaction): string => {
    transaction.put('books', id, JSON.stringify({ id, title }));
    return title;
  };
}

/** Counts on what is there, as a transaction with an If-Match would. */
function increase(id: string) {
  return (transaction: Transaction): number => {
    const found = transaction.find('books', id)?.toString() ?? '{"title":"0"}';
    const count = Number(/"title":"(\d+)"/.exec(found)?.[1]) + 1;
    transaction.put('books', id, JSON.stringify({ id, title: String(count) }));
    return count;
  };
}

function applyForeign(id: string, title: string): void {
  books.apply({ collection: 'books', id, bytes: Buffer.from(JSON.stringify({ id, title })) });
  journal.sequence += 1;
}

const idsOf = (operations: readonly (readonly Operation[])[]): string[][] =>
  operations.map((each) => each.map(({ id }) => id));

test('every call of close resolves once all that is staged is written', async () => {
  const write = commit.submit(put('a', 'A'));
  const closings = [commit.close(), commit.close()];
  const append = await journal.next();
  journal.end(append.collectOperations());
  await Promise.all([write, ...closings, commit.close()]);
  await assert.rejects(commit.submit(put('b', 'B')), { code: 'unavailable' });
});

test('after a conflict all that waited runs again, with the result of the last run', async () => {
  const first = commit.submit(increase('a'));
  const append = await journal.next();
  assert.deepEqual(idsOf(append.collectOperations()), [['a']]);
  const second = commit.submit(increase('a'));
  commit.rebase(() => applyForeign('a', '10'));
  const operations = append.collectOperations();
  assert.deepEqual(idsOf(operations), [['a'], ['a']]);
  journal.end(operations);
  assert.deepEqual(await Promise.all([first, second]), [11, 12]);
  assert.match(books.findBytes('a')?.toString() ?? '', /"12"/);
});

test('who throws in the last run is refused, and the others are not', async () => {
  const taken = assert.rejects(commit.submit(put('a', 'same')), { code: 'conflict' });
  const other = commit.submit(put('b', 'other'));
  const append = await journal.next();
  append.collectOperations();
  commit.rebase(() => applyForeign('x', 'same'));
  const operations = append.collectOperations();
  assert.deepEqual(idsOf(operations), [['b']]);
  journal.end(operations);
  await taken;
  assert.equal(await other, 'other');
  assert.equal(books.size, 2);
});

test('who had read what was thrown away reads again', async () => {
  const write = commit.submit(increase('a'));
  const append = await journal.next();
  append.collectOperations();
  const read = commit.submit((transaction) => transaction.find('books', 'a')?.toString());
  const refused = commit.submit(put('b', '1')).then(() => 'put', ({ code }) => code);
  commit.rebase(() => applyForeign('a', '5'));
  journal.end(append.collectOperations());
  assert.equal(await write, 6);
  assert.match(await read ?? '', /"6"/);
  assert.equal(await refused, 'put', 'the title was taken by what was thrown away only');
});

test('when nothing is left to write after a conflict, everybody is told', async () => {
  const write = assert.rejects(commit.submit(put('a', 'same')), { code: 'conflict' });
  const append = await journal.next();
  append.collectOperations();
  commit.rebase(() => applyForeign('x', 'same'));
  journal.end(append.collectOperations());
  await write;
  await commit.close();
});

test('what is too much for one append goes in several, in order', async () => {
  journal.batchBytesMax = 600;
  const writes = ['a', 'b', 'c', 'd'].map((id) => commit.submit(put(id, id.repeat(60))));
  const follower = commit.submit((transaction) => transaction.find('books', 'd') !== undefined);
  const first = (await journal.next()).collectOperations();
  assert.deepEqual(idsOf(first), [['a'], ['b']]);
  journal.end(first);
  assert.equal(books.size, 2);
  const second = await journal.next();
  second.collectOperations();
  commit.rebase(() => applyForeign('b', 'changed'));
  const operations = second.collectOperations();
  assert.deepEqual(idsOf(operations), [['c'], ['d']]);
  journal.end(operations);
  assert.equal((await Promise.all(writes)).length, 4);
  assert.equal(await follower, true);
  assert.match(books.findBytes('b')?.toString() ?? '', /changed/);
});

test('a transaction that is too large by itself is refused at once', async () => {
  journal.batchBytesMax = 600;
  await assert.rejects(commit.submit(put('a', 'x'.repeat(600))), { code: 'too_large' });
  const small = commit.submit(put('a', 'x'));
  journal.end((await journal.next()).collectOperations());
  await small;
});

test('one that is refused as too large leaves what others have staged before it', async () => {
  journal.batchBytesMax = 600;
  const first = commit.submit(increase('a'));
  await assert.rejects(commit.submit(put('a', 'x'.repeat(600))), { code: 'too_large' });
  const second = commit.submit(increase('a'));
  journal.end((await journal.next()).collectOperations());
  assert.deepEqual(await Promise.all([first, second]), [1, 2]);
});

test('an unknown outcome is of what was on its way, not of what waited for it', async () => {
  const first = assert.rejects(commit.submit(put('a', 'x')), { code: 'unknown_outcome' });
  const append = await journal.next();
  append.collectOperations();
  const second = assert.rejects(commit.submit(put('b', 'y')), { code: 'unavailable' });
  journal.failure = new AppError('unavailable', 'the engine cannot be reached');
  journal.refuse(new AppError('unknown_outcome', 'nobody knows'));
  await Promise.all([first, second]);
  assert.equal(books.size, 0);
});

test('nothing runs while the records are loaded anew', async () => {
  const waiting = assert.rejects(commit.submit(put('a', 'x')), { code: 'unavailable' });
  const append = await journal.next();
  append.collectOperations();
  const read = commit.submit((transaction) => transaction.find('books', 'a'));
  journal.reloadError = new AppError('unavailable', 'loading');
  commit.rejectAll(journal.reloadError);
  await waiting;
  await assert.rejects(read, { message: 'loading' });
  await assert.rejects(commit.submit(() => assert.fail('ran')), { message: 'loading' });
  journal.end(append.collectOperations());
  await commit.close();
});

test('a refusal rests on a state that is no older than the call', async () => {
  journal.isShared = true;
  journal.catchUp = async () => commit.rebase(() => applyForeign('a', '5'));
  const seen: unknown[] = [];
  await assert.rejects(commit.submit((transaction) => {
    seen.push(transaction.find('books', 'a')?.toString());
    throw new AppError('not_found', 'no such record');
  }), { code: 'not_found' });
  assert.deepEqual(seen, [undefined, '{"id":"a","title":"5"}']);
  journal.catchUp = async () => Promise.reject(new AppError('unavailable', 'away'));
  await assert.rejects(commit.submit(() => 'read'), { message: 'away' });
});

test('what waits its turn among others runs once, on what they have committed', async () => {
  journal.isContended = true;
  let runs = 0;
  const write = commit.submit((transaction) => {
    runs += 1;
    return increase('a')(transaction);
  });
  const append = await journal.next();
  commit.rebase(() => applyForeign('a', '10'));
  assert.equal(runs, 0);
  journal.end(append.collectOperations());
  assert.equal(await write, 11);
  assert.equal(runs, 1);
});

test('what was held back runs before what comes later', async () => {
  journal.isContended = true;
  const first = commit.submit(increase('a'));
  journal.isContended = false;
  const second = commit.submit(increase('a'));
  journal.end((await journal.next()).collectOperations());
  assert.deepEqual(await Promise.all([first, second]), [1, 2]);
});

for (const [stagedBytesMax, heldMax] of [[1e9, 512], [8 << 20, 64]] as const) {
  test(`more than ${heldMax} are not held back, where ${stagedBytesMax} bytes may wait`,
    async () => {
      begin(stagedBytesMax);
      journal.isContended = true;
      let runs = 0;
      const submit = (id: string): Promise<string> => commit.submit((transaction) => {
        runs += 1;
        return put(id, id)(transaction);
      });
      const writes = Array.from({ length: heldMax }, (_, index) => submit(`b${index}`));
      assert.equal(runs, 0);
      writes.push(submit('one-more'));
      assert.equal(runs, heldMax + 1);
      journal.end((await journal.next()).collectOperations());
      await Promise.all(writes);
      assert.equal(books.size, heldMax + 1);
    });
}

test('what is held back is refused, without having run, when the append fails', async () => {
  journal.isContended = true;
  const write = assert.rejects(commit.submit(() => assert.fail('ran')), { message: 'away' });
  await journal.next();
  journal.refuse(new AppError('unavailable', 'away'));
  await write;
  const other = assert.rejects(commit.submit(() => assert.fail('ran')), { message: 'loading' });
  await journal.next();
  commit.rejectAll(new AppError('unavailable', 'loading'));
  await other;
  journal.end([]);
  await commit.close();
});
