import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';
import { createTurns } from '../../src/base/turns.ts';
import { createIdSource } from '../../src/base/uuid.ts';
import { createBookShelf, createCatalog } from '../../src/books/catalog.ts';
import { bookResource } from '../../src/books/book-resource.ts';
import type { Catalog } from '../../src/books/catalog.ts';
import type { ImportRecord } from '../../src/books/transfer/import-record.ts';
import { parseImportRecord } from '../../src/books/transfer/import-record.ts';
import type { ChangeHook } from '../../src/resources/record-stager.ts';
import { PLAIN_MODE } from '../support/import-mode.ts';
import { createMemoryStore } from '../support/memory-store.ts';
import type { MemoryStore } from '../support/memory-store.ts';

const ID = '018f2b7c-0000-7000-8000-00000000000a';
const NOW = '2026-03-01T12:00:00.000Z';

let store: MemoryStore;

beforeEach(() => {
  store = createMemoryStore([bookResource.collection, { name: 'events', key: 'id' }]);
});

function catalogOf(stageWithChange?: ChangeHook): Catalog {
  const clock = { now: () => Date.parse(NOW) };
  return createCatalog({
    store, clock, makeId: createIdSource(clock), turns: createTurns(systemClock),
    ...stageWithChange === undefined ? {} : { stageWithChange },
  });
}

test('an embedded catalog takes and gives objects', async () => {
  const books = createBookShelf(catalogOf());
  const added = await books.add({ title: 'Dune', isbn: '0441172717' });
  assert.equal(added.isbn, '9780441172719');
  assert.deepEqual(books.get(added.id), added);
  const patched = await books.patch(added.id, { isbn: null, numberOfPages: 412 });
  assert.deepEqual([patched.isbn, patched.numberOfPages], [undefined, 412]);
  assert.equal((await books.replace(added.id, { title: 'Dune Messiah' })).title, 'Dune Messiah');
  await books.delete(added.id);
  assert.throws(() => books.get(added.id), isError('not_found'));
  await assert.rejects(books.delete(added.id), isError('not_found'));
  await assert.rejects(books.add({ title: '' }), isError('invalid'));
});

test('a patch changes the members of a reading one by one', async () => {
  const books = createBookShelf(catalogOf());
  const { id } = await books.add({
    title: 'Dune', series: [{ name: 'Dune', position: 1 }],
    reading: { status: 'reading', startedOn: '2024-05', shelves: ['own', 'lent'] },
  });
  const { reading } = await books.patch(id, { reading: { rating: 4.5, shelves: ['own'] } });
  assert.deepEqual(reading,
    { status: 'reading', rating: 4.5, startedOn: '2024-05', shelves: ['own'] });
  await assert.rejects(books.patch(id, { reading: { finishedOn: '2024-04-30' } }),
    (error) => error instanceof AppError && error.code === 'invalid'
      && error.details.errors?.[0]?.pointer === '/reading/finishedOn');
  const removed = { status: null, rating: null, startedOn: null, shelves: null };
  const patched = await books.patch(id, { reading: removed, series: [{ name: 'Arrakis' }] });
  assert.equal(Object.hasOwn(patched, 'reading'), false);
  assert.deepEqual(patched.series, [{ name: 'Arrakis' }]);
});

test('a change and what its hook adds are one line, and fail together', async () => {
  const catalog = catalogOf((transaction, { id, after }) => {
    if (after?.includes('refused') === true) throw new AppError('unavailable', 'queue is full');
    transaction.put('events', `e-${id}`, `{"id":"e-${id}"}`);
  });
  await catalog.add({ title: 'A' });
  assert.deepEqual(store.lines.map((line) => line.map(({ collection }) => collection)),
    [['books', 'events']]);
  await assert.rejects(catalog.add({ title: 'refused' }), isError('unavailable'));
  assert.equal(catalog.size, 1);
});

test('an import keeps the dates it is given and makes up what is missing', async () => {
  const [early, late] = ['2020-01-01T00:00:00.000Z', '2021-01-01T00:00:00.000Z'];
  const cases = [
    [{}, NOW, NOW],
    [{ createdAt: early }, early, early],
    [{ updatedAt: early }, early, early],
    [{ createdAt: early, updatedAt: late }, early, late],
    [{ createdAt: '2999-01-01T00:00:00Z' }, '2999-01-01T00:00:00.000Z',
      '2999-01-01T00:00:00.000Z'],
  ] as const;
  for (const [dates, createdAt, updatedAt] of cases) {
    const catalog = catalogOf();
    const [imported] = await importBatch(catalog, [record({ ...dates })]);
    const book = createBookShelf(catalog).get(imported?.id ?? '');
    assert.deepEqual([book.createdAt, book.updatedAt], [createdAt, updatedAt]);
  }
});

test('an import that replaces without dates keeps createdAt and raises updatedAt', async () => {
  const catalog = catalogOf();
  const createdAt = '2999-01-01T00:00:00.000Z';
  await importBatch(catalog, [record({ id: ID, createdAt })]);
  const again = await importBatch(catalog, [record({ id: ID, title: 'B' })], 'replace');
  assert.deepEqual(again, [{ id: ID, outcome: 'replaced', leftOut: [] }]);
  const book = createBookShelf(catalog).get(ID);
  assert.deepEqual([book.title, book.createdAt, book.updatedAt],
    ['B', createdAt, '2999-01-01T00:00:00.001Z']);
  const later = '3000-01-01T00:00:00.000Z';
  await importBatch(catalog, [record({ id: ID, title: 'C', createdAt: later })], 'replace');
  assert.equal(createBookShelf(catalog).get(ID).updatedAt, later);
});

test('an import is one line a batch and fires nothing', async () => {
  let changes = 0;
  const catalog = catalogOf(() => { changes += 1; });
  const records = [record({}), record({ id: ID }), record({ id: ID }),
    record({ id: ID, title: 'B' })];
  const results = await importBatch(catalog, records);
  assert.deepEqual(results.map(({ outcome }) => outcome),
    ['imported', 'imported', 'unchanged', 'exists']);
  assert.deepEqual(store.lines.map((line) => line.length), [2]);
  assert.equal(changes, 0);
});

test('times are RFC 3339, kept as UTC with milliseconds', () => {
  const record = (createdAt: string) => parseImportRecord({ title: 'Emma', createdAt });
  assert.equal(record('2026-01-31T23:30:00-01:00').createdAt, '2026-02-01T00:30:00.000Z');
  assert.throws(() => record('yesterday'), isError('invalid'));
});

test('ids of any version are taken, in lower case', () => {
  for (const version of [1, 4, 7, 8]) {
    const id = `018F2B7C-0000-${version}000-A000-00000000000A`;
    assert.equal(record({ id }).id, id.toLowerCase());
  }
  for (const id of ['', 'x', `${ID}0`, ID.replace('-', ''), '018f2b7c-0000-9000-8000-00000000000a',
    '018f2b7c-0000-7000-c000-00000000000a', '00000000-0000-0000-0000-000000000000']) {
    assert.throws(() => record({ id }), isError('invalid'), id);
  }
});

async function importBatch(
  catalog: Catalog, records: readonly ImportRecord[], onMatch: 'update' | 'replace' = 'update',
) {
  const bookImport = await catalog.openImport(
    { ...PLAIN_MODE, onMatch, isSameIdLeftAlone: onMatch === 'update' });
  const results = await bookImport.importBatch(records);
  bookImport.close();
  return results;
}

function record(book: object) {
  return parseImportRecord({ title: 'A', ...book });
}

function isError(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code;
}
