/** Books come and go as CSL-JSON, valid by its schema; round-trips.test.ts has whole catalogs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { cslCodec } from '../../../../src/books/transfer/sources/csl.ts';
import { cslSchema } from '../../../support/csl-schema.ts';
import { bodyOf, importBook, readText, writeText } from '../../../support/format-round-trip.ts';
import { validate } from '../../../support/json-schema.ts';
import { below, createRandom } from '../../../support/random.ts';
import { hostileBook } from '../../../support/hostile-books.ts';
import { IS_LONG, longTest } from '../../../support/long.ts';

function readOne(item: JsonObject, hasAllTypes = false): JsonObject {
  const records = readText(cslCodec, JSON.stringify([item]), { hasAllTypes });
  assert.equal(records.length, 1);
  return bodyOf(records[0]);
}

function sourceOf(book: JsonObject): JsonValue | undefined {
  return (book['metadata'] as { source?: { csl?: JsonValue } } | undefined)?.source?.csl;
}

/** The items as they are written, after the schema has been asked. */
function writeItems(books: readonly JsonObject[]): readonly JsonObject[] {
  const items = JSON.parse(writeText(cslCodec, books)) as JsonObject[];
  assert.deepEqual(validate(items, cslSchema, cslSchema), []);
  return items;
}

test('whatever books have in them, their items are valid by the schema', () => {
  const random = createRandom(34);
  writeItems(Array.from({ length: IS_LONG ? 3000 : 200 }, (_, number) =>
    hostileBook(random, number)));
});

test('rich text of Zotero is plain text here, and comes out again as it stood', () => {
  const title = 'On <i>E. coli</i> &amp; <span class="nocase">iPods</span>: a <b>tale</b>';
  const book = readOne({ id: 'x', type: 'book', title });
  assert.equal(book['title'], 'On E. coli & iPods');
  assert.equal(book['subtitle'], 'a tale');
  assert.deepEqual(sourceOf(book), { id: 'x', title });
  assert.equal(writeItems([importBook(book)])[0]?.['title'], title);
});

test('no books are an empty array', () => {
  assert.deepEqual(writeItems([]), []);
});

test('an item says what the model has under the names of CSL', () => {
  const [item] = writeItems([{
    id: 'b1', title: 'Nova', subtitle: 'A Novel', authors: [{ name: 'Ursula K. Le Guin' }],
    isbn: '9780441478125', datePublished: '1969-03', numberOfPages: 304, bookEdition: '2nd',
    keywords: ['snow', 'ice'], inLanguage: 'en-US', publisher: 'Ace', description: 'Cold.',
    url: 'https://a.example/', bookFormat: 'EBook',
  }]);
  assert.deepEqual(item, {
    id: 'b1', type: 'book', title: 'Nova: A Novel',
    author: [{ family: 'Le Guin', given: 'Ursula K.' }], ISBN: '9780441478125', publisher: 'Ace',
    issued: { 'date-parts': [[1969, 3]] }, language: 'en-US', 'number-of-pages': '304',
    edition: '2nd', keyword: 'snow, ice', abstract: 'Cold.', URL: 'https://a.example/',
    custom: { hookshelf: { authors: [{ name: 'Ursula K. Le Guin' }], bookFormat: 'EBook' } },
  });
});

test('the first series has members of its own, and all else of series and reading custom', () => {
  const series = [{ name: 'Discworld ', position: 4 }, { name: 'Death', position: 1.5 }];
  const reading = { status: 'read', rating: 4.5, review: 'Fine.\n\nTwice  so.', owned: false };
  const [item = {}] = writeItems([{ id: 'a', title: 'Mort', authors: [], series, reading }]);
  assert.deepEqual(item, {
    'id': 'a', 'type': 'book', 'title': 'Mort', 'collection-title': 'Discworld ',
    'collection-number': '4', 'custom': { hookshelf: { series, reading } },
  });
  const { metadata, ...body } = readOne(item);
  assert.deepEqual(body, { title: 'Mort', series, reading });
  const { series: read, metadata: source } = readOne(
    { 'id': 'b', 'title': 'T', 'collection-title': 'S', 'collection-number': 7 });
  assert.deepEqual([read, source],
    [[{ name: 'S', position: 7 }], { source: { csl: { id: 'b' } } }]);
});

test('an item is read, and what the model lacks is kept as it stood', () => {
  const book = readOne({
    id: 42, type: 'book', title: 'Animal Farm: A Fairy Story',
    author: [{ family: 'Orwell', given: 'George' }], ISBN: '0-14-103613-3 978-0-14-103613-7',
    issued: { 'date-parts': [['2008', '7', 3]] }, 'number-of-pages': 112, edition: 2,
    language: 'eng', keyword: 'satire; fable', editor: [{ literal: 'A. B.' }],
    custom: { shelf: 3 }, note: '', URL: 'https://a.example/', abstract: 'Animals.',
  });
  assert.deepEqual(book, {
    title: 'Animal Farm', subtitle: 'A Fairy Story',
    authors: [{ name: 'George Orwell', givenName: 'George', familyName: 'Orwell' }],
    isbn: '9780141036137', datePublished: '2008-07-03', inLanguage: 'en', numberOfPages: 112,
    bookEdition: '2', keywords: ['satire', 'fable'], url: 'https://a.example/',
    description: 'Animals.',
    metadata: {
      source: { csl: { id: 42, editor: [{ literal: 'A. B.' }], custom: { shelf: 3 } } },
    },
  });
});

test('dates are read from parts, raw and literal, and kept where they say more', () => {
  const cases: readonly (readonly [issued: JsonValue, date: string | undefined, isAll: boolean])[] =
    [
      [{ 'date-parts': [[1969]] }, '1969', true],
      [{ 'date-parts': [['1969', '03', '05']] }, '1969-03-05', true],
      [{ 'date-parts': [[1969, 0, 0]] }, '1969', true],
      [{ 'date-parts': [[750]] }, '0750', true],
      [{ raw: '1969-03-05' }, '1969-03-05', true],
      [{ literal: 'March 1969' }, '1969-03', true],
      ['1969-03', '1969-03', true],
      [{ 'date-parts': [[1969]], circa: true }, '1969', false],
      [{ 'date-parts': [[1969], [1970]] }, '1969', false],
      [{ 'date-parts': [[1969, 2, 31]] }, '1969-02', false],
      [{ literal: 'around 1969' }, '1969', false],
      [{ 'date-parts': [[-750]] }, undefined, false],
      [{ 'date-parts': [] }, undefined, false],
      [{ literal: 'long ago' }, undefined, false],
    ];
  for (const [issued, date, isAll] of cases) {
    const book = readOne({ type: 'book', title: 'A', issued });
    assert.equal(book['datePublished'], date, JSON.stringify(issued));
    assert.equal(sourceOf(book) === undefined, isAll, JSON.stringify(issued));
  }
});

test('particles belong to names, and names are given back as they stood', () => {
  const author = [
    { family: 'Gogh', given: 'Vincent', 'non-dropping-particle': 'van' },
    { family: 'Beethoven', given: 'Ludwig', 'dropping-particle': 'van' },
    { family: 'Alembert', given: 'Jean', 'non-dropping-particle': "d'" },
    { family: 'King', given: 'Martin Luther', suffix: 'Jr.' },
    { literal: 'World Health Organization' }, { family: '村上', given: '春樹' },
    { given: 'Plato' },
  ];
  const item = { id: 'a', type: 'book', title: 'A', author };
  const book = readOne(item);
  assert.deepEqual(book['authors'], [
    { name: 'Vincent van Gogh', givenName: 'Vincent', familyName: 'van Gogh' },
    { name: 'Ludwig van Beethoven', givenName: 'Ludwig', familyName: 'Beethoven' },
    { name: "Jean d'Alembert", givenName: 'Jean', familyName: "d'Alembert" },
    { name: 'Martin Luther King Jr.', givenName: 'Martin Luther', familyName: 'King' },
    { name: 'World Health Organization' },
    { name: '村上春樹', givenName: '春樹', familyName: '村上' },
    { name: 'Plato', givenName: 'Plato' },
  ]);
  assert.deepEqual(writeItems([importBook(book)]), [item]);
});

test('members that the schema does not know are written in custom', () => {
  const book = readOne({
    id: 'a', type: 'chapter', title: 'A', shelf: 'a1', volume: 2, note: 7,
    'citation-key': 'k', 'narrator': [{ family: 'N' }], 'volume-title': 'V',
    'container-title': 'B', custom: { hookshelf: { bookFormat: 'Hardcover' }, own: [1] },
  }, true);
  assert.equal(book['bookFormat'], 'Hardcover');
  assert.deepEqual(writeItems([importBook(book)]), [{
    id: 'a', type: 'chapter', title: 'A', volume: 2, 'container-title': 'B',
    'citation-key': 'k', 'narrator': [{ family: 'N' }], 'volume-title': 'V',
    custom: { own: [1], shelf: 'a1', note: 7, hookshelf: { bookFormat: 'Hardcover' } },
  }]);
});

test('authors with members that the schema does not know are written as far as it does', () => {
  const author: JsonObject[] = [
    { family: 'Liu', given: 'Cixin', ORCID: 'https://orcid.org/0', sequence: 'first' },
    { literal: 'Tor', affiliation: [] },
  ];
  const issued = { 'date-parts': [[2014, 11]], timestamp: 7 };
  const book = importBook(readOne({ id: 'a', type: 'book', title: 'A', author, issued }));
  const items = writeItems([book]);
  assert.deepEqual(items, [{
    id: 'a', type: 'book', title: 'A',
    author: [{ family: 'Liu', given: 'Cixin' }, { family: 'Tor' }],
    issued: { 'date-parts': [[2014, 11]] },
    custom: { author, issued, hookshelf: { authors: book['authors'] } },
  }]);
  const again = readOne(items[0] ?? {});
  assert.deepEqual(again['authors'], book['authors']);
  assert.deepEqual(writeItems([importBook(again)]), items);
});

test('values that the model refuses are kept in the source, and the book stays', () => {
  const refused = {
    ISBN: '9.78E+12', 'number-of-pages': 0, URL: 'ftp://a.example/', language: 'Klingonese',
    author: [{ literal: 'x'.repeat(301) }], keyword: { a: 1 }, issued: [1969],
  };
  const book = readOne({ type: 'book', title: 'A', ...refused });
  assert.deepEqual(book, { title: 'A', metadata: { source: { csl: refused } } });
});

test('texts are read from lists too, as Crossref sends them', () => {
  assert.deepEqual(readOne({ title: ['A: B'], ISBN: ['9780441478125'], URL: ['http://a', 'b'] }), {
    title: 'A', subtitle: 'B', isbn: '9780441478125', url: 'http://a',
    metadata: { source: { csl: { URL: ['http://a', 'b'] } } },
  });
});

test('articles are counted by their type, and one object or a list of Zotero is read', () => {
  const text = '[{"type":"article-journal","title":"A","id":"x"},\n{"title":"B"}]';
  const [article, book] = readText(cslCodec, text);
  assert.deepEqual(article, { line: 1, key: 'x', otherType: 'article-journal' });
  assert.deepEqual(bodyOf(book), { title: 'B' });
  assert.deepEqual(readText(cslCodec, '{"type":"book","title":"C"}').map(bodyOf), [{ title: 'C' }]);
  assert.deepEqual(readText(cslCodec, '{"items":[{"type":"book","title":"C"}]}').map(bodyOf),
    [{ title: 'C' }]);
});

test('a broken item is named by its line, and the next is read', () => {
  const text = '[\n{"id":"a" "title":"A"},\n5,\n{"id":"b","title":"B"}]';
  const [broken, number, book] = readText(cslCodec, text);
  assert.equal(broken?.line, 2);
  assert.match(broken?.problem ?? '', /^not valid JSON at /);
  assert.deepEqual(number,
    { line: 3, key: null, problem: 'must be an object, an item of CSL-JSON' });
  assert.equal(bodyOf(book)['title'], 'B');
});

longTest('items with any values of any members are read', () => {
  const random = createRandom(10);
  const values: readonly JsonValue[] = [null, true, 0, -1, 1e300, '', 'x', [], {}, [[]], [null],
    [{ family: 5, given: [] }], { 'date-parts': [[null]] }, { 'date-parts': 7, raw: {} },
    { hookshelf: [] }, { hookshelf: { title: 5, authors: 'x', id: 'y', none: 1 } }];
  const names = ['id', 'type', 'title', 'author', 'issued', 'ISBN', 'keyword', 'custom',
    'edition', '__proto__', 'constructor', 'custom.hookshelf'];
  for (let count = 0; count < 2000; count += 1) {
    const item = Object.fromEntries(names.map((name) =>
      [name, values[below(random, values.length)] ?? null]));
    const book = readOne({ ...item, type: 'book' });
    if (typeof book['title'] === 'string') writeText(cslCodec, [importBook(book)]);
  }
});

test('half a character in a field leaves the field out, not the book', () => {
  for (const value of ['a\ud83d', ['\udca9'], { a: '\ud83d' }, { '\ud83d': 1 }]) {
    const file = JSON.stringify([{ id: '1', type: 'book', title: 'T', note: value, genre: 'g' }]);
    const reader = cslCodec.createReader({ hasAllTypes: false });
    const [record] = [...reader.push(Buffer.from(file)), ...reader.end()];
    assert.deepEqual(record, {
      line: 1, key: '1', leftOut: ['note'],
      body: { title: 'T', metadata: { source: { csl: { id: '1', genre: 'g' } } } },
    });
  }
});
