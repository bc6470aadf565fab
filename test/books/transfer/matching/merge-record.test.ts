import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { parseImportRecord } from '../../../../src/books/transfer/import-record.ts';
import { fillRecord, mergeRecord } from '../../../../src/books/transfer/matching/merge-record.ts';
import { IS_LONG } from '../../../support/long.ts';
import { below, createRandom } from '../../../support/random.ts';
import type { Random } from '../../../support/random.ts';

const SOURCE = { ownIdFields: ['Book Id'], exportOf: () => '' };
const SEEDS = IS_LONG ? 5000 : 200;

test('an update sets what the record has and keeps the rest, in the order of the model', () => {
  const book = fieldsOf({
    title: 'Old', authors: [{ name: 'A' }], publisher: 'P', keywords: ['x'], url: 'http://a/b',
  });
  const record = fieldsOf({ title: 'New', subtitle: 'S', keywords: ['y'] });
  const { members, leftOut } = mergeRecord(book, record, SOURCE);
  assert.deepEqual(JSON.stringify(members), JSON.stringify({
    title: 'New', subtitle: 'S', authors: [{ name: 'A' }], publisher: 'P', keywords: ['y'],
    url: 'http://a/b',
  }));
  assert.deepEqual(leftOut, []);
});

test('the members of the reading are set one by one, the shelves whole', () => {
  const book = fieldsOf({
    title: 'A', reading: { status: 'read', rating: 4, shelves: ['own', 'lent'], review: 'Fine.' },
  });
  const record = fieldsOf({ title: 'A', reading: { rating: 5, shelves: ['sold'], owned: false } });
  assert.equal(JSON.stringify(mergeRecord(book, record, null).members), JSON.stringify({
    title: 'A', authors: [],
    reading: { status: 'read', rating: 5, shelves: ['sold'], review: 'Fine.', owned: false },
  }));
  assert.equal(JSON.stringify(fillRecord(book, record, null).members), JSON.stringify({
    title: 'A', authors: [],
    reading: { ...book['reading'] as JsonObject, owned: false },
  }));
  const { members } = mergeRecord(fieldsOf({ title: 'A' }), record, null);
  assert.deepEqual(members['reading'], record['reading']);
});

test('a date that contradicts one of the book is refused, and the book keeps its own', () => {
  const [started, finished] = ['reading.startedOn', 'reading.finishedOn'];
  const cases: readonly (readonly [JsonObject, JsonObject, JsonObject, readonly string[]])[] = [
    [{ finishedOn: '2023' }, { startedOn: '2024-05', rating: 3 }, { rating: 3 }, [started]],
    [{ startedOn: '2024-05' }, { finishedOn: '2023', owned: true }, { owned: true }, [finished]],
    [{ startedOn: '2021', finishedOn: '2022' }, { startedOn: '2023' }, {}, [started]],
    [{ startedOn: '2021', finishedOn: '2022' }, { startedOn: '2023', finishedOn: '2024' },
      { startedOn: '2023', finishedOn: '2024' }, []],
    [{ finishedOn: '2024' }, { startedOn: '2024-05' }, { startedOn: '2024-05' }, []],
  ];
  for (const [before, added, changes, names] of cases) {
    for (const mergeBoth of [mergeRecord, fillRecord]) {
      const { members, refusedNames } = mergeBoth(fieldsOf({ title: 'A', reading: before }),
        fieldsOf({ title: 'A', reading: added }), null);
      assert.deepEqual(fieldsOf(members), members);
      const isFull = Object.keys(before).length === 2 && mergeBoth === fillRecord;
      assert.deepEqual(members['reading'], isFull ? before : { ...before, ...changes });
      assert.deepEqual(refusedNames, isFull ? [] : names);
    }
  }
});

test('the title of a list of ISBNs takes the place of no other', () => {
  const isbn = '9780439023481';
  const record = fieldsOf({ title: `ISBN ${isbn}`, isbn });
  const { members } = mergeRecord(fieldsOf({ title: 'The Hunger Games', isbn }), record, null);
  assert.equal(members['title'], 'The Hunger Games');
});

test('metadata are merged by member, and sources by format', () => {
  const stored = { own: 1, kept: 2, source: { goodreads: { 'Book Id': '1', 'Shelf': 'a' } } };
  const cases: readonly (readonly [JsonObject, JsonObject, JsonObject, readonly string[]])[] = [
    [stored, { source: { calibre: { uuid: 'u' } } },
      { ...stored, source: { ...stored.source, calibre: { uuid: 'u' } } }, []],
    [stored, { own: 3, source: { goodreads: { 'Book Id': '1' } } },
      { own: 3, kept: 2, source: { goodreads: { 'Book Id': '1' } } }, []],
    [stored, { source: { goodreads: { 'Shelf': 'b' } } },
      { ...stored, source: { goodreads: { 'Book Id': '1', 'Shelf': 'b' } } }, []],
    [{ source: 'a shop' }, { source: { goodreads: { 'Book Id': '1', 'Shelf': 'a' } } },
      { source: 'a shop' }, ['Book Id', 'Shelf']],
    [{ source: ['a shop'] }, { source: { goodreads: { 'Book Id': '1' } } },
      { source: ['a shop'] }, ['Book Id']],
    [{ own: 1 }, { source: 'a shop' }, { own: 1, source: 'a shop' }, []],
    ...['mine', ['a', 'b'], 7, false, null].map((own) => [
      { source: { goodreads: own, a: 1 } },
      { source: { goodreads: { 'Book Id': '1', 'Shelf': 'a' }, ris: { ID: '2' } } },
      { source: { goodreads: own, a: 1, ris: { ID: '2' } } }, ['Book Id', 'Shelf'],
    ] as const),
    [{ own: 1 }, { source: { goodreads: { 'Book Id': '1' } } },
      { own: 1, source: { goodreads: { 'Book Id': '1' } } }, []],
  ];
  for (const [before, added, expected, names] of cases) {
    const { members, leftOut } = mergeRecord(
      fieldsOf({ title: 'A', metadata: before }), fieldsOf({ title: 'A', metadata: added }),
      SOURCE,
    );
    assert.deepEqual(members['metadata'], expected);
    assert.deepEqual(leftOut, names);
  }
});

test('the longest that a record brings goes where there is no room, and the own id stays', () => {
  const before = { note: 'n'.repeat(10_000), source: { calibre: { uuid: 'u' } } };
  const goodreads = { 'Book Id': '1', 'My Review': 'r'.repeat(7000), 'Shelf': 's'.repeat(5000) };
  const { members, leftOut } = mergeRecord(fieldsOf({ title: 'A', metadata: before }),
    fieldsOf({ title: 'A', metadata: { source: { goodreads } } }), SOURCE);
  assert.deepEqual(leftOut, ['My Review']);
  const { 'My Review': _, ...kept } = goodreads;
  assert.deepEqual(members['metadata'],
    { ...before, source: { ...before.source, goodreads: kept } });
});

test('the own id stays also where it is the longest, while anything else can go', () => {
  const before = { note: 'n'.repeat(15_000) };
  const goodreads = { 'Book Id': 'i'.repeat(1000), 'Shelf': 's'.repeat(500) };
  const record = fieldsOf({ title: 'A', metadata: { source: { goodreads } } });
  const merged = mergeRecord(fieldsOf({ title: 'A', metadata: before }), record, SOURCE);
  assert.deepEqual(merged.leftOut, ['Shelf']);
  const full = fieldsOf({ title: 'A', metadata: { note: 'n'.repeat(16_000) } });
  assert.deepEqual(mergeRecord(full, record, SOURCE),
    { members: full, leftOut: ['Shelf', 'Book Id'], refusedNames: [] });
});

test('a member of the metadata that has no room leaves the one that is there', () => {
  const mergeMetadata = (before: JsonObject, added: JsonObject) => {
    const { members, leftOut } = mergeRecord(
      fieldsOf({ title: 'A', metadata: before }), fieldsOf({ title: 'A', metadata: added }), null);
    return [members['metadata'], leftOut];
  };
  const full = { a: 'x'.repeat(7000), b: 'x'.repeat(100), r: 'x'.repeat(7000) };
  const longer = { a: 'y'.repeat(9500), b: 'y'.repeat(6000) };
  assert.deepEqual(mergeMetadata(full, longer), [full, ['a', 'b']]);
  const before = { a: 'x'.repeat(5000), b: '', r: 'x'.repeat(5000), s: 'x'.repeat(3000) };
  assert.deepEqual(mergeMetadata(before, { ...longer, r: '' }),
    [{ ...before, b: longer.b, r: '' }, ['a']]);
});

test('metadata that are merged are what the model takes, and merging again changes nothing', () => {
  let fullCount = 0;
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = createRandom(seed);
    let book = fieldsOf({ title: 'A', metadata: randomMembers(random) });
    const record = fieldsOf({ title: 'A', metadata: randomMembers(random) });
    book = merge(book, record);
    const { members, leftOut } = mergeRecord(book, record, SOURCE);
    assert.equal(JSON.stringify(members), JSON.stringify(book), `seed ${seed}`);
    if (leftOut.length > 0) fullCount += 1;
  }
  assert.ok(fullCount > SEEDS / 20, `${fullCount} were full`);
});

test('merging again changes nothing, however full the metadata are', () => {
  let fullCount = 0;
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = createRandom(seed);
    const own = random() < 0.5 ? { own: text(random, 6000) } : {};
    let book = fieldsOf({ title: 'A', ...random() < 0.7 ? { metadata: own } : {} });
    const records = ['goodreads', 'storygraph'].map((format) => fieldsOf({
      title: 'A', metadata: { source: { [format]: randomSource(random) } },
    }));
    for (const record of records) book = merge(book, record);
    for (const record of records) {
      const { members, leftOut } = mergeRecord(book, record, SOURCE);
      assert.equal(JSON.stringify(members), JSON.stringify(book), `seed ${seed}`);
      if (leftOut.length > 0) fullCount += 1;
    }
  }
  assert.ok(fullCount > SEEDS / 20, `${fullCount} were full`);
});

/** The merged members, which the model has to accept. */
function merge(book: JsonObject, record: JsonObject): JsonObject {
  const { members } = mergeRecord(book, record, SOURCE);
  assert.deepEqual(fieldsOf(members), members);
  return members;
}

/** A caller's own members, at times with what a source says. */
function randomMembers(random: Random): JsonObject {
  const members: Record<string, JsonValue> = random() < 0.3
    ? { source: { goodreads: { 'Book Id': text(random, 40) } } } : {};
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const value = text(random, 20_000);
    const { length } = Buffer.from(JSON.stringify({ ...members, [name]: value }));
    if (length <= 16_384 && random() < 0.7) members[name] = value;
  }
  return members;
}

/** As much as one source alone may say. */
function randomSource(random: Random): JsonObject {
  const fields: Record<string, string> = { 'Book Id': text(random, 20) };
  for (let index = 0; index < 6; index += 1) {
    const value = text(random, 9000);
    const { length } = Buffer.from(JSON.stringify([fields, value]));
    if (length < 15_900) fields[`Field ${index}`] = value;
  }
  return fields;
}

function text(random: Random, lengthMax: number): string {
  return ['a', '"', 'é', '😀'][below(random, 4)]?.repeat(below(random, lengthMax / 4)) ?? '';
}

function fieldsOf(book: JsonObject): JsonObject {
  return parseImportRecord(book).fields;
}
