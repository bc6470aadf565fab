import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { systemClock } from '../../../../src/base/clock.ts';
import { AppError } from '../../../../src/base/errors.ts';
import { createTurns } from '../../../../src/base/turns.ts';
import { createIdSource } from '../../../../src/base/uuid.ts';
import { bookResource } from '../../../../src/books/book-resource.ts';
import { createBookShelf, createCatalog } from '../../../../src/books/catalog.ts';
import type { Catalog } from '../../../../src/books/catalog.ts';
import { parseImportRecord } from '../../../../src/books/transfer/import-record.ts';
import type {
  MatchMode, SourceFormat,
} from '../../../../src/books/transfer/matching/book-import.ts';
import { GOODREADS, PLAIN_MODE } from '../../../support/import-mode.ts';
import { createMemoryStore } from '../../../support/memory-store.ts';
import type { MemoryStore } from '../../../support/memory-store.ts';
import { endsInTurns } from '../../../support/turns.ts';

const ID = '018f2b7c-0000-7000-8000-00000000000a';
const ISBNS = ['9780441172719', '9780306406157', '9791090636071'];
const JSONLD: SourceFormat = {
  ...GOODREADS, format: 'jsonld', ownIdFields: ['@id'], bookIdFields: ['@id'],
  bookIdPrefix: 'urn:uuid:',
};
const DEFAULTS: MatchMode = { ...PLAIN_MODE, matches: ['isbn'], isSameIdLeftAlone: false };

let store: MemoryStore;
let catalog: Catalog;
let changes = 0;

beforeEach(() => {
  changes = 0;
  let nowMs = Date.UTC(2026, 0, 1);
  const clock = { now: () => nowMs += 1 };
  store = createMemoryStore([bookResource.collection]);
  catalog = createCatalog({
    store, clock, makeId: createIdSource(clock), turns: createTurns(systemClock),
    stageWithChange: () => { changes += 1; },
  });
});

async function outcomesOf(
  books: readonly object[], mode: Partial<MatchMode> = {},
): Promise<readonly string[]> {
  const results = await importAll(books, mode);
  return results.map(({ outcome }) => outcome);
}

async function importAll(books: readonly object[], mode: Partial<MatchMode> = {}) {
  const bookImport = await catalog.openImport({ ...DEFAULTS, ...mode });
  try {
    return await bookImport.importBatch(books.map((book) => recordOf(book)));
  } finally {
    bookImport.close();
  }
}

function contentOf(): readonly string[] {
  return [...catalog.ids()].map((id) => String(catalog.find(id)?.bytes));
}

test('the same export again changes nothing, by each way to match', async () => {
  const books = [
    { title: 'A', isbn: ISBNS[0], authors: [{ name: 'X' }], metadata: sourceOf('1') },
    { title: 'B', isbn: ISBNS[1], datePublished: '1960', metadata: sourceOf('2') },
  ];
  for (const match of ['isbn', 'title', 'source'] as const) {
    for (const onMatch of ['update', 'replace'] as const) {
      const mode = { match, onMatch, source: GOODREADS };
      await importAll(books, mode);
      const before = contentOf();
      const lines = store.lines.length;
      assert.deepEqual(await outcomesOf(books, mode), ['unchanged', 'unchanged']);
      assert.deepEqual([contentOf(), store.lines.length], [before, lines]);
    }
  }
  assert.equal(catalog.size, 2);
  assert.equal(changes, 0, 'no event is fired');
});

test('the book of an earlier record stays as it is, in its batch and in another', async () => {
  const twice = [{ title: 'A', isbn: ISBNS[0] }, { title: 'B', isbn: ISBNS[0] }];
  const other = { title: 'A', isbn: ISBNS[0] };
  const bookImport = await catalog.openImport(DEFAULTS);
  const batches = [twice, [other, other]].map((books) =>
    bookImport.importBatch(books.map(recordOf)));
  const results = (await Promise.all(batches)).flat();
  bookImport.close();
  assert.deepEqual(results.map(({ outcome }) => outcome),
    ['imported', 'repeated', 'unchanged', 'unchanged']);
  assert.equal(catalog.size, 1);
  const before = contentOf();
  for (const onMatch of ['skip', 'update', 'replace'] as const) {
    const expected = onMatch === 'skip' ? 'exists' : 'unchanged';
    for (const isDryRun of [true, false]) {
      const again = await importAll([...twice, other], { onMatch, isDryRun });
      assert.deepEqual(again.map(({ id, outcome }) => [id, outcome]),
        [expected, 'repeated', expected].map((outcome) => [results[0]?.id, outcome]));
    }
  }
  assert.deepEqual(contentOf(), before);
});

test('marks of a batch that was not stored, and of a removed book, count for nothing', async () => {
  const shelf = createBookShelf(catalog);
  const { id } = await shelf.add({ title: 'A', isbn: ISBNS[0] ?? '' });
  const bookImport = await catalog.openImport(DEFAULTS);
  const importOne = async (title: string, isbn: string | undefined) => {
    const [result] = await bookImport.importBatch([recordOf({ title, isbn })]);
    return result?.outcome;
  };
  await bookImport.importBatch([]);
  store.failNextBatch(new AppError('storage_full', 'full'));
  await assert.rejects(importOne('B', ISBNS[0]), /full/);
  assert.equal(await importOne('C', ISBNS[0]), 'updated');
  await catalog.remove(id);
  await shelf.add({ title: 'in the slot of A', isbn: ISBNS[1] ?? '' });
  assert.equal(await importOne('D', ISBNS[1]), 'updated');
  assert.equal(await importOne('E', ISBNS[1]), 'repeated');
  bookImport.close();
});

test('a record whose own id is the id of a book is that book, and is not stored so', async () => {
  await importAll([{ id: ID, title: 'A', publisher: 'P' }], { matches: [] });
  const mode = { matches: ['source'], source: JSONLD } as const;
  const record = { title: 'A', metadata: ownIdOf(`urn:uuid:${ID}`) };
  const before = contentOf();
  assert.deepEqual(await importAll([record], mode),
    [{ id: ID, outcome: 'unchanged', leftOut: [] }]);
  assert.deepEqual(contentOf(), before);
  const edited = { title: 'B', metadata: ownIdOf(`urn:uuid:${ID}`.toUpperCase(), { award: 'x' }) };
  for (const onMatch of ['skip', 'update', 'replace'] as const) {
    const [predicted] = await importAll([edited], { ...mode, onMatch, isDryRun: true });
    assert.deepEqual(await importAll([edited], { ...mode, onMatch }), [predicted]);
  }
  const { title, publisher, metadata } = JSON.parse(contentOf()[0] ?? '');
  assert.deepEqual([title, publisher, metadata],
    ['B', undefined, { source: { jsonld: { award: 'x' } } }]);
  assert.equal(catalog.size, 1);
});

test('an own id that is the id of no book or has no prefix, adds', async () => {
  await importAll([{ id: ID, title: 'A' }], { matches: [] });
  const other = ID.replace('a', 'b');
  const records = [ID, `urn:uuid:${other}`, 'urn:uuid:', `urn:uuid:${ID}x`]
    .map((ownId) => ({ title: 'B', metadata: ownIdOf(ownId) }));
  const added = records.map(() => 'imported');
  for (const [expected, mode] of [
    [added, { matches: ['source'], source: JSONLD }],
    [records.map(() => 'unchanged'), { matches: ['source'], source: JSONLD }],
    [['imported'], { matches: ['source'], source: { ...JSONLD, bookIdPrefix: null } }],
  ] as const) {
    const sent = expected.length > 1 ? records
      : [{ title: 'B', metadata: ownIdOf(`urn:uuid:${ID}`) }];
    assert.deepEqual(await outcomesOf(sent, { ...mode, isDryRun: true }), expected);
    assert.deepEqual(await outcomesOf(sent, mode), expected);
  }
});

test('an update leaves what a record says as our export of the book says it', async () => {
  const book = { title: 'A', description: 'one\ntwo', metadata: ownIdOf('x', { award: 'a' }) };
  await importAll([{ id: ID, ...book }], { matches: [] });
  // A format that has one blank for white space, and no place for awards.
  const readExports = (bytes: Buffer) => {
    const { title, description } = JSON.parse(bytes.toString());
    return [{ title, authors: [], description: description.replace('\n', ' '), publisher: 's' }];
  };
  const mode = { matches: ['source'], source: { ...JSONLD, readExports } } as const;
  const unedited = { title: 'A', description: 'one two', publisher: 's', metadata: ownIdOf('x') };
  assert.deepEqual(await outcomesOf([unedited], { ...mode, isDryRun: true }), ['unchanged']);
  assert.deepEqual(await outcomesOf([unedited], mode), ['unchanged']);
  assert.deepEqual(await outcomesOf([{ ...unedited, title: 'B' }], mode), ['updated']);
  const { id, createdAt, updatedAt, ...members } = JSON.parse(contentOf()[0] ?? '');
  assert.deepEqual(members, { ...book, title: 'B', authors: [] });
  const edited = { title: 'B', publisher: 't', metadata: ownIdOf('x', { award: 'b' }) };
  assert.deepEqual(await outcomesOf([edited], mode), ['updated']);
  const after = JSON.parse(contentOf()[0] ?? '');
  assert.deepEqual([after.publisher, after.metadata], ['t', ownIdOf('x', { award: 'b' })]);
});

test('an import that is closed finds matches to the end of its last batch', async () => {
  const shelf = createBookShelf(catalog);
  await shelf.add({ title: 'A', isbn: ISBNS[0] ?? '' });
  const bookImport = await catalog.openImport(DEFAULTS);
  const importing = bookImport.importBatch([recordOf({ title: 'A', isbn: ISBNS[0] })]);
  bookImport.close();
  assert.deepEqual((await importing).map(({ outcome }) => outcome), ['unchanged']);
});

test('books whose keys share a hash are told apart', async () => {
  const [left, right] = findCollision();
  const mode = { matches: ['source'], source: GOODREADS } as const;
  await importAll([{ title: 'A', metadata: sourceOf(left) }], mode);
  assert.deepEqual(await outcomesOf([{ title: 'B', metadata: sourceOf(right) }], mode),
    ['imported']);
});

/** Two ids with the same hash: among 400,000 there are some. */
function findCollision(): readonly [string, string] {
  const ids = new Map<number, string>();
  for (let count = 0; count < 1_000_000; count += 1) {
    const id = `id ${Math.imul(count, 0x9e3779b1).toString(36)}`;
    const other = ids.get(crc32(id));
    if (other !== undefined) return [other, id];
    ids.set(crc32(id), id);
  }
  return assert.fail('no two hashes are the same');
}

test('imports that match alike share an index, and the last drops it and its marks', async () => {
  const collection = store.collection('books');
  let listeners = 0;
  const { onChange } = collection;
  collection.onChange = (listener) => {
    listeners += 1;
    const end = onChange.call(collection, listener);
    return () => {
      listeners -= 1;
      end();
    };
  };
  const [first, second, other] =
    await Promise.all([DEFAULTS, DEFAULTS, { ...DEFAULTS, matches: ['title'] as const }]
      .map((mode) => catalog.openImport(mode)));
  const importBook = (each: typeof first, book: object) =>
    endsInTurns(each?.importBatch([recordOf(book)]) ?? Promise.resolve());
  await importBook(first, { title: 'B', isbn: ISBNS[1] });
  assert.equal(listeners, 1 + 3, 'that of ISBNs, and the marks of each import');
  const book = { id: ID, title: 'A', isbn: ISBNS[0] };
  await Promise.all([first, second, other].map((each) => importBook(each, book)));
  assert.equal(listeners, 4 + 3, 'indexes, and the marks of each import');
  first?.close();
  first?.close();
  other?.close();
  await importBook(second, book);
  assert.equal(listeners, 2 + 1);
  second?.close();
  await endsInTurns(Promise.resolve());
  assert.equal(listeners, 0);
  const unmatched = await catalog.openImport({ ...DEFAULTS, matches: [] });
  await unmatched.importBatch([recordOf({ title: 'B' })]);
  assert.equal(listeners, 0, 'nothing is looked for');
  const authors = [{ name: 'Jane Austen' }];
  await unmatched.importBatch([recordOf({ ...book, title: 'C', authors })]);
  assert.equal(listeners, 1, 'records with ids need that of merged books alone');
  await unmatched.importBatch([recordOf({ title: 'C', isbn: ISBNS[0], authors })]);
  assert.equal(listeners, 3, 'and those without what tells of books that are there twice');
  unmatched.close();
});

function sourceOf(bookId: string) {
  return { source: { goodreads: { 'Book Id': bookId } } };
}

function ownIdOf(id: string, fields: object = {}) {
  return { source: { jsonld: { '@id': id, ...fields } } };
}

function recordOf(book: object) {
  return parseImportRecord(book);
}
