import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  RecordColumns, SharedTextColumn, createFlagColumn, createRareTextColumn, createTimeColumn,
} from '../../../src/webhooks/records/columns.ts';
import type { Collection, Store } from '../../../src/store/store-port.ts';
import { createMemoryStore } from '../../support/memory-store.ts';

type Thing = { readonly kind?: string; readonly key?: string; readonly at?: number };

const parse = (record: Buffer): Thing => JSON.parse(record.toString()) as Thing;
const readKind = ({ kind }: Thing): string | null => kind ?? null;

function openColumns(isListed: (record: Buffer) => boolean = () => true) {
  const store = createMemoryStore([{ name: 'things', key: 'id' }]);
  const things = store.collection('things');
  const kinds = new SharedTextColumn<Thing>(readKind);
  const keys = createRareTextColumn<Thing>(
    (slot) => parse(things.bytesAt(slot) ?? Buffer.from('{}')), ({ key = null }) => key);
  const times = createTimeColumn<Thing>(({ at = 0 }) => at);
  const flags = createFlagColumn<Thing>(({ key }) => key !== undefined);
  const columns = new RecordColumns(things, (record) => isListed(record) ? parse(record) : null,
    [kinds, keys, times, flags].map((column) => ({ column })));
  return { store, things, kinds, keys, times, flags, columns };
}

const put = (store: Store, id: string, thing: Thing): Promise<void> =>
  store.transact((transaction) => {
    transaction.put('things', id, JSON.stringify({ id, ...thing }));
  });

function select(things: Collection, matches: ((slot: number) => boolean) | null): string[] {
  const ids: string[] = [];
  for (let slot = 0; matches !== null && slot < things.slotBound; slot += 1) {
    if (matches(slot)) ids.push(things.idAt(slot) ?? '');
  }
  return ids.sort();
}

test('records that were there before, and those that come later, are in the columns', async () => {
  const { store, things, kinds, columns } = openColumns();
  await put(store, 'a', { kind: 'x' });
  await columns.whenBuilt();
  await put(store, 'b', { kind: 'x' });
  await put(store, 'c', { kind: 'y' });
  assert.deepEqual(select(things, columns.createMatcher([kinds.createTest('x')])), ['a', 'b']);
  assert.equal(columns.count, 3);
});

test('a removed record is in no column, and its text is forgotten', async () => {
  const { store, things, kinds, columns } = openColumns();
  await columns.whenBuilt();
  await put(store, 'a', { kind: 'x' });
  await store.transact((transaction) => transaction.delete('things', 'a'));
  assert.equal(columns.createMatcher([kinds.createTest('x')]), null);
  assert.equal(columns.count, 0);
  await put(store, 'b', { kind: 'y' });
  assert.deepEqual(select(things, columns.createMatcher([kinds.createTest('y')])), ['b']);
  assert.equal(columns.createMatcher([kinds.createTest('x')]), null);
});

test('texts of one CRC-32 are told apart by the record', async () => {
  const { store, things, keys, columns } = openColumns();
  // Both have the CRC-32 0x4ddb0c25.
  const [first, second] = ['plumless', 'buckeroo'];
  await put(store, 'a', { key: first });
  await put(store, 'b', { key: second });
  await columns.whenBuilt();
  assert.deepEqual(select(things, columns.createMatcher([keys.createTest(second)])), ['b']);
});

test('several criteria must all be met', async () => {
  const { store, things, kinds, times, flags, columns } = openColumns();
  await put(store, 'a', { kind: 'x', at: 5, key: 'k' });
  await put(store, 'b', { kind: 'x', at: 10, key: 'k' });
  await put(store, 'c', { kind: 'x', at: 5 });
  await put(store, 'd', { kind: 'y', at: 5, key: 'k' });
  await columns.whenBuilt();
  const tests = [kinds.createTest((kind) => kind === 'x'),
    times.createTest({ sinceMs: 5, untilMs: 10 }), flags.createTest(true)];
  assert.deepEqual(select(things, columns.createMatcher(tests)), ['a']);
});

test('records that are not listed are in no column', async () => {
  const { store, things, columns } = openColumns((record) => !record.includes('hidden'));
  await put(store, 'hidden', {});
  await put(store, 'a', {});
  await columns.whenBuilt();
  assert.deepEqual(select(things, columns.createMatcher([])), ['a']);
  assert.equal(columns.count, 1);
});

test('columns whose building has failed are built by the next list', async () => {
  let isBroken = true;
  const { store, things, kinds, columns } = openColumns(() => {
    if (isBroken) throw new Error('no such record');
    return true;
  });
  await put(store, 'a', { kind: 'x' });
  await assert.rejects(columns.whenBuilt(), /no such record/);
  isBroken = false;
  await columns.whenBuilt();
  await put(store, 'b', { kind: 'x' });
  assert.deepEqual(select(things, columns.createMatcher([kinds.createTest('x')])), ['a', 'b']);
  assert.equal(columns.count, 2);
});

test('more records than the columns had room for are all in them', async () => {
  const { store, things, kinds, columns } = openColumns();
  await columns.whenBuilt();
  await put(store, 'first', { kind: 'x' });
  await store.transact((transaction) => {
    for (let n = 0; n < 3000; n += 1) {
      transaction.put('things', `n${n}`, JSON.stringify({ id: `n${n}`, kind: 'y' }));
    }
  });
  assert.deepEqual(select(things, columns.createMatcher([kinds.createTest('x')])), ['first']);
  assert.equal(select(things, columns.createMatcher([kinds.createTest('y')])).length, 3000);
});

test('a record that is refreshed has what its columns read now', async () => {
  let isMarked = false;
  const store = createMemoryStore([{ name: 'things', key: 'id' }]);
  const things = store.collection('things');
  const flags = createFlagColumn(() => isMarked);
  const columns = new RecordColumns(things, parse, [{ column: flags }]);
  await put(store, 'a', {});
  await columns.whenBuilt();
  isMarked = true;
  columns.refresh(things.findSlot('a'));
  assert.deepEqual(select(things, columns.createMatcher([flags.createTest(true)])), ['a']);
  assert.equal(columns.count, 1);
});

test('a column of what changes has the present text of a record, and forgets the former one',
  async () => {
    const store = createMemoryStore([{ name: 'things', key: 'id' }]);
    const things = store.collection('things');
    const kinds = new SharedTextColumn<Thing>(readKind);
    const columns = new RecordColumns(things, parse, [{ column: kinds, isChanging: true }]);
    await put(store, 'a', { kind: 'x' });
    await columns.whenBuilt();
    await put(store, 'a', { kind: 'y' });
    assert.deepEqual(select(things, columns.createMatcher([kinds.createTest('y')])), ['a']);
    assert.equal(columns.createMatcher([kinds.createTest('x')]), null);
    assert.equal(columns.count, 1);
  });

test('a test holds for no later text, and still for one that a record keeps', async () => {
  const store = createMemoryStore([{ name: 'things', key: 'id' }]);
  const things = store.collection('things');
  const kinds = new SharedTextColumn<Thing>(readKind);
  const columns = new RecordColumns(things, parse, [{ column: kinds, isChanging: true }]);
  await columns.whenBuilt();
  await put(store, 'a', { kind: 'x' });
  await put(store, 'b', { kind: 'y' });
  const [isX, isY] = [kinds.createTest('x'), kinds.createTest('y')];
  await put(store, 'a', { kind: 'z' });
  await put(store, 'b', { kind: 'y', at: 1 });
  assert.deepEqual([select(things, isX), select(things, isY)], [[], ['b']]);
});
