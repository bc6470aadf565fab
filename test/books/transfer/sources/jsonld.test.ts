import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import type { SourceRecord } from '../../../../src/books/transfer/record-splitter.ts';
import { jsonldCodec } from '../../../../src/books/transfer/sources/jsonld.ts';
import { readText } from '../../../support/format-round-trip.ts';
import { hostileBook } from '../../../support/hostile-books.ts';
import { IS_LONG, longTest } from '../../../support/long.ts';
import { createRandom } from '../../../support/random.ts';
import { readFirst } from '../../../../src/books/transfer/mapping/field-text.ts';
import { findTexts, readPeople } from '../../../../src/books/transfer/sources/jsonld-values.ts';

function read(file: string, chunkBytes = 1000, hasAllTypes = false): readonly SourceRecord[] {
  return readText(jsonldCodec, file, { chunkBytes, hasAllTypes });
}

function readBody(node: JsonValue): JsonObject {
  const [record] = read(JSON.stringify(node));
  assert.ok(record !== undefined && 'body' in record, JSON.stringify(record));
  return record.body;
}

/** The text of a file with these books, and how many had metadata that it lacks. */
function write(books: readonly JsonObject[], isOneBook = false): {
  readonly file: string; readonly leftOutCount: number;
} {
  const writer = jsonldCodec.createWriter?.({ isOneBook });
  assert.ok(writer !== undefined);
  const pieces = books.map((book) => writer.write([Buffer.from(JSON.stringify(book))]));
  const file = [writer.begin(), ...pieces, writer.end()].join('');
  return { file, leftOutCount: writer.leftOutCount };
}

const NAME = { name: 'T' };

test('each member is read from what schema.org has for it, in all its forms', () => {
  const cases: readonly (readonly [node: JsonObject, members: JsonObject])[] = [
    [{ name: 'T' }, { title: 'T' }],
    [{ name: { '@value': 'T' } }, { title: 'T' }],
    [{ headline: 'T' }, { title: 'T' }],
    [{ ...NAME, alternativeHeadline: 'S' }, { title: 'T', subtitle: 'S' }],
    [{ ...NAME, author: 'A B' }, { title: 'T', authors: [{ name: 'A B' }] }],
    [{ ...NAME, author: ['A', { '@type': 'Person', name: 'B', birthDate: '1948' }] },
      { title: 'T', authors: [{ name: 'A' }, { name: 'B', birthDate: '1948' }] }],
    [{ ...NAME, author: { '@list': [{ givenName: 'G', familyName: 'F' }] } },
      { title: 'T', authors: [{ name: 'G F', givenName: 'G', familyName: 'F' }] }],
    [{ ...NAME, creator: { name: 'C' } }, { title: 'T', authors: [{ name: 'C' }] }],
    [{ ...NAME, author: { name: 'A', address: {
      '@type': 'PostalAddress', addressLocality: 'Leeds', addressCountry: { name: 'GB' },
    } } }, {
      title: 'T',
      authors: [{ name: 'A', address: { addressLocality: 'Leeds', addressCountry: 'GB' } }],
    }],
    [{ ...NAME, isbn: ['0-441-47812-3'] }, { title: 'T', isbn: '9780441478125' }],
    [{ ...NAME, '@id': 'urn:isbn:9780441478125' }, { title: 'T', isbn: '9780441478125' }],
    [{ ...NAME, publisher: 'P' }, { title: 'T', publisher: 'P' }],
    [{ ...NAME, publisher: { '@type': 'Organization', name: 'P' } },
      { title: 'T', publisher: 'P' }],
    [{ ...NAME, datePublished: '1969-03' }, { title: 'T', datePublished: '1969-03' }],
    [{ ...NAME, datePublished: '1969-03-02T10:00:00Z' },
      { title: 'T', datePublished: '1969-03-02' }],
    [{ ...NAME, inLanguage: { '@type': 'Language', name: 'English' } },
      { title: 'T', inLanguage: 'en' }],
    [{ ...NAME, inLanguage: 'und' }, { title: 'T', inLanguage: 'und' }],
    [{ ...NAME, bookFormat: 'hardback' }, { title: 'T', bookFormat: 'Hardcover' }],
    [{ ...NAME, numberOfPages: '304' }, { title: 'T', numberOfPages: 304 }],
    [{ ...NAME, bookFormat: 'http://schema.org/Paperback' },
      { title: 'T', bookFormat: 'Paperback' }],
    [{ ...NAME, bookFormat: { '@id': 'schema:EBook' } }, { title: 'T', bookFormat: 'EBook' }],
    [{ ...NAME, '@type': 'Audiobook' }, { title: 'T', bookFormat: 'AudiobookFormat' }],
    [{ ...NAME, keywords: 'a, b' }, { title: 'T', keywords: ['a', 'b'] }],
    [{ ...NAME, keywords: ['a, b', { '@type': 'DefinedTerm', name: 'c' }] },
      { title: 'T', keywords: ['a, b', 'c'] }],
    [{ ...NAME, image: { '@type': 'ImageObject', contentUrl: 'https://example.org/a.png' } },
      { title: 'T', image: 'https://example.org/a.png' }],
    [{ ...NAME, url: { '@id': 'https://example.org/' } },
      { title: 'T', url: 'https://example.org/' }],
  ];
  for (const [node, expected] of cases) {
    const { metadata, ...members } = readBody(node);
    assert.deepEqual(members, expected, JSON.stringify(node));
  }
});

test('names mean what the contexts say, without one of them being fetched', () => {
  const cases: readonly (readonly [context: JsonValue, members: JsonObject])[] = [
    ['https://schema.org', { name: 'T' }],
    ['https://schema.org', { 'schema:name': 'T' }],
    ['https://schema.org', { 'http://schema.org/name': 'T' }],
    ['https://schema.org', { 'https://schema.org/name': 'T' }],
    ['https://schema.org', { type: 'Book', name: 'T' }],
    ['https://example.org/never-fetched', { name: 'T' }],
    [{ '@vocab': 'http://schema.org/' }, { name: 'T' }],
    [{ s: 'https://schema.org/' }, { '@type': 's:Book', 's:name': 'T' }],
    [{ s: 'https://schema.org' }, { 's:name': 'T' }],
    [{ title: 'http://schema.org/name' }, { title: 'T' }],
    [{ s: 'http://schema.org/', title: { '@id': 's:name' } }, { title: 'T' }],
    [['https://schema.org', { title: 'name', kind: '@type' }], { kind: 'Book', title: 'T' }],
    [[{ name: 'http://example.org/name' }, null], { name: 'T' }],
    [['https://schema.org', { '@vocab': 'https://example.org/ns#' }], { name: 'T' }],
    [[{ '@vocab': 'https://example.org/ns#' }, 'https://schema.org'], { name: 'T' }],
    [['https://schema.org', { '@vocab': null }], { name: 'T' }],
    [[{ name: 'http://example.org/name' }, 'http://schema.org/'], { name: 'T' }],
  ];
  for (const [context, members] of cases) {
    for (const node of [{ '@context': context, ...members },
      { '@context': context, '@graph': [members] }, { '@graph': [members], '@context': context }]) {
      assert.equal(readBody(node)['title'], 'T', JSON.stringify(node));
    }
  }
  const others: readonly (readonly [context: JsonValue, members: JsonObject])[] = [
    [{ '@vocab': 'http://example.org/' }, { name: 'T' }],
    [{ '@vocab': null }, { name: 'T' }],
    [['https://schema.org', { name: 'http://example.org/name' }], { name: 'T' }],
    [{ name: 'http://example.org/name' }, { name: 'T' }],
    [{ name: null }, { name: 'T' }],
    [{ a: 'b', b: 'a', name: 'a' }, { name: 'T' }],
  ];
  for (const [context, members] of others) {
    assert.equal(readBody({ '@context': context, ...members })['title'], undefined);
  }
});

test('what the model has no place for is kept under its own names, with the own id', () => {
  const { metadata } = readBody({
    '@context': 'https://schema.org', '@id': 'https://example.org/b1', '@type': 'Book', name: 'T',
    author: { '@id': '#a', name: 'A' }, isbn: '9.78E+12', numberOfPages: 0, genre: ['SF', ''],
    'ex:shelf': 'A1', award: '', datePublished: '-750',
  });
  assert.deepEqual(metadata, { source: { jsonld: {
    '@id': 'https://example.org/b1', author: { '@id': '#a', name: 'A' }, isbn: '9.78E+12',
    numberOfPages: 0, genre: ['SF', ''], 'ex:shelf': 'A1', datePublished: '-750',
  } } });
  assert.equal(readBody({ '@id': '_:b0', name: 'T' })['metadata'], undefined);
});

test('a value of which a book holds but a part is kept beside it', () => {
  const organization = { '@type': 'Organization' };
  const person = { '@type': 'Person', name: 'A' };
  const address = { '@type': 'PostalAddress', addressLocality: 'Leeds' };
  const cases: readonly JsonObject[] = [
    { publisher: { ...organization, name: ['A', 'B'] } },
    { publisher: { ...organization, name: { '@value': 'A', '@language': 'en' } } },
    { publisher: ['A', organization] },
    { datePublished: ['1969', { year: 1969 }] },
    { isbn: ['9780441478125', {}] },
    { isbn: { '@value': '9780441478125', edition: 'first' } },
    { keywords: ['a', true] },
    { author: { ...person, address: [address, { ...address, addressLocality: 'York' }] } },
    { author: { ...person, address: { ...address, birthDate: '1948' } } },
    { author: { ...person, name: ['A', 'B'] } },
    { author: [person, { '@value': 'B', '@language': 'en' }] },
    { author: { ...person, birthDate: 'unknown' } },
  ];
  for (const members of cases) {
    const { metadata } = readBody({ '@type': 'Book', ...NAME, ...members });
    assert.deepEqual(metadata, { source: { jsonld: members } }, JSON.stringify(members));
  }
  for (const members of [{ publisher: { ...organization, name: 'A' } }, { isbn: ['9780441478125'] },
    { author: { ...person, address: [address], birthDate: '1948', url: null } }]) {
    assert.equal(readBody({ ...NAME, ...members })['metadata'], undefined);
  }
});

test('within a value another vocabulary\'s name, and a second one, are not taken', () => {
  const context = { name: 'http://example.org/name', label: 'http://schema.org/name' };
  const author = { '@context': context, name: 'X', label: 'A' };
  const { authors, metadata } = readBody({ ...NAME, author });
  assert.deepEqual(authors, [{ name: 'A' }]);
  assert.deepEqual(metadata, {
    source: { jsonld: { author: { 'http://example.org/name': 'X', name: 'A' } } },
  });
  const twice = readBody({ ...NAME, author: { 'schema:name': 'A', name: 'B' } });
  assert.deepEqual(twice['authors'], [{ name: 'A' }]);
  assert.deepEqual(twice['metadata'], {
    source: { jsonld: { author: { name: 'A', 'https://schema.org/name': 'B' } } },
  });
});

test('another name for a member, and another vocabulary\'s, are kept beside it', () => {
  assert.deepEqual(readBody({ 'schema:name': 'T', name: 'U' }), {
    title: 'T', metadata: { source: { jsonld: { 'https://schema.org/name': 'U' } } },
  });
  const context = { isbn: 'http://example.org/isbn' };
  assert.deepEqual(readBody({ '@context': context, name: 'T', isbn: '9780441478125' }), {
    title: 'T', metadata: { source: { jsonld: { 'http://example.org/isbn': '9780441478125' } } },
  });
  assert.deepEqual(readBody({ '@context': { genre: 'ex:kind' }, name: 'T', genre: 'SF' }), {
    title: 'T', metadata: { source: { jsonld: { 'ex:kind': 'SF' } } },
  });
});

test('an address is no name of a publisher or an author, and is kept', () => {
  const node = { ...NAME, publisher: { '@id': '#o' }, author: { '@id': '#p' } };
  assert.deepEqual(readBody(node), {
    title: 'T',
    metadata: { source: { jsonld: { publisher: { '@id': '#o' }, author: { '@id': '#p' } } } },
  });
});

/** The books of a graph, read in pieces, without what is kept of their source. */
function readGraph(nodes: readonly JsonObject[], chunk = 50): readonly JsonObject[] {
  return read(JSON.stringify({ '@graph': nodes }), chunk).flatMap((record) => {
    if (!('body' in record)) return [];
    const { metadata, ...members } = record.body;
    return [members];
  });
}

const BOOK = { '@type': 'Book', name: 'T' };

test('a reference is followed to the node of its id, before, behind and within others', () => {
  const jane = { '@type': 'Person', '@id': '_:b0', name: 'Jane', birthDate: '1775' };
  const press = { '@type': 'Organization', '@id': '#o', name: 'Press' };
  const book = { ...BOOK, author: { '@id': '_:b0' }, publisher: { '@id': '#o' } };
  const expected = {
    title: 'T', authors: [{ name: 'Jane', birthDate: '1775' }], publisher: 'Press',
  };
  for (const nodes of [[jane, press, book], [book, press, jane], [jane, book, press]]) {
    assert.deepEqual(readGraph(nodes), [expected]);
  }
  assert.deepEqual(readBody({ ...BOOK, author: [{ '@id': '_:b0' }], creator: jane }),
    { title: 'T', authors: [{ name: 'Jane', birthDate: '1775' }],
      metadata: { source: { jsonld: { creator: { ...jane } } } } });
  const cases: readonly (readonly [members: JsonObject, others: readonly JsonObject[],
    expected: JsonObject])[] = [
    [{ author: [{ '@id': '_:b0' }, 'B', { '@id': '#x' }] }, [jane],
      { authors: [{ name: 'Jane', birthDate: '1775' }, { name: 'B' }] }],
    [{ author: { '@list': [{ '@id': '_:b0', '@type': 'Person' }] } }, [jane],
      { authors: [{ name: 'Jane', birthDate: '1775' }] }],
    [{ author: '_:b0' }, [jane], { authors: [{ name: 'Jane', birthDate: '1775' }] }],
    [{ author: 'https://e.org/p' }, [{ '@type': 'Person', '@id': 'https://e.org/p', name: 'P' }],
      { authors: [{ name: 'P' }] }],
    [{ author: { '@id': '#a' } }, [{ '@type': 'Person', id: '#a', name: 'A',
      address: { '@id': '_:d' } }, { '@type': 'PostalAddress', '@id': '_:d', postalCode: '1' }],
    { authors: [{ name: 'A', address: { postalCode: '1' } }] }],
    [{ image: { '@id': '_:i' } }, [{ '@type': 'ImageObject', '@id': '_:i',
      contentUrl: 'https://e.org/i.png' }], { image: 'https://e.org/i.png' }],
    [{ inLanguage: { '@id': '#l' } }, [{ '@type': 'Language', '@id': '#l', name: 'English' }],
      { inLanguage: 'en' }],
    [{ keywords: [{ '@id': '#k' }] }, [{ '@type': 'DefinedTerm', '@id': '#k', name: 'sea' }],
      { keywords: ['sea'] }],
    // A circle, and an id that no node has.
    [{ author: { '@id': '#a' } }, [{ '@type': 'Person', '@id': '#a', name: { '@id': '#a' } }], {}],
    [{ author: { '@id': '#none' }, publisher: 'urn:x:p', keywords: { '@id': '#k' } }, [], {}],
    [{ author: ['_:none', 'https://e.org/p'], description: { '@id': '#d' } }, [], {}],
  ];
  for (const [members, others, wanted] of cases) {
    for (const nodes of [[{ ...BOOK, ...members }, ...others], [...others,
      { ...BOOK, ...members }]]) {
      assert.deepEqual(readGraph(nodes), [{ title: 'T', ...wanted }], JSON.stringify(nodes));
    }
  }
  const [, kept] = read(JSON.stringify([jane, { ...BOOK, about: { '@id': '_:b0' } }]));
  assert.ok(kept !== undefined && 'body' in kept);
  assert.deepEqual(kept.body['metadata'], { source: { jsonld: { about: { '@id': '_:b0' } } } });
  const [, second] = readGraph([{ ...BOOK, author: { '@id': '#a', name: 'A' } },
    { ...BOOK, author: { '@id': '#a' } }]);
  assert.deepEqual(second?.['authors'], [{ name: 'A' }]);
});

longTest('books come as they stand, and wait no longer than may wait', () => {
  const person = { '@type': 'Person', '@id': '#p', name: 'P' };
  const waiting = { ...BOOK, author: { '@id': '#p' } };
  const inOrder = readGraph([waiting, { ...BOOK, name: 'U' }, person]);
  assert.deepEqual(inOrder.map(({ title }) => title), ['T', 'U']);

  const many = Array.from({ length: 30_000 }, () => waiting);
  const reader = jsonldCodec.createReader({ hasAllTypes: false });
  const file = Buffer.from(JSON.stringify({ '@graph': [...many, person] }));
  let mostAtOnce = 0;
  const records: SourceRecord[] = [];
  for (let offset = 0; offset < file.length; offset += 4096) {
    const some = reader.push(Buffer.from(file.subarray(offset, offset + 4096)));
    mostAtOnce = Math.max(mostAtOnce, some.length);
    records.push(...some);
  }
  const early = records.length;
  for (const record of reader.end()) if (record !== null) records.push(record);
  assert.ok(early > 15_000 && mostAtOnce < 300, `${early}, ${mostAtOnce} at once`);
  assert.equal(records.length, many.length + 1);
  const authored = records.filter((record) => 'body' in record && 'authors' in record.body).length;
  assert.ok(authored > 5000 && authored < 15_000, String(authored));
});

test('of what a book refers to no more is followed than may be', () => {
  const names = Array.from({ length: 3000 }, () => ({ '@id': '#p' }));
  const person = { '@type': 'Person', '@id': '#p', name: 'x'.repeat(3000) };
  const [record] = read(JSON.stringify([person, { ...BOOK, author: names }])).slice(1);
  assert.ok(record !== undefined && 'body' in record);
  assert.ok(JSON.stringify(record.body).length < 2_000_000);
});

const SERIES = { '@type': 'BookSeries', name: 'Discworld' };
const OWN_REVIEW = {
  '@type': 'Review', reviewBody: 'Fine.\nTwice.',
  reviewRating: { '@type': 'Rating', ratingValue: 4.5 },
};

test('series and the review of the reader are written as schema.org has them', () => {
  const book = {
    id: '1', title: 'Mort', authors: [],
    series: [{ name: 'Discworld', position: 4 }, { name: 'Death' }],
    reading: { rating: 4.5, review: 'Fine.\nTwice.' },
  };
  const { file, leftOutCount } = write([book], true);
  const { isPartOf, position, review } = JSON.parse(file);
  assert.deepEqual([isPartOf, position, review, leftOutCount],
    [[SERIES, { '@type': 'BookSeries', name: 'Death' }], 4, OWN_REVIEW, 0]);
  const { metadata, ...body } = readBody(JSON.parse(file));
  assert.deepEqual({ id: '1', authors: [], ...body }, book);
  const half = write([{ ...book, series: [{ name: 'S', position: 0.5 }] }], true).file;
  assert.equal(JSON.parse(half).position, '0.5');
  assert.deepEqual(readBody(JSON.parse(half))['series'], [{ name: 'S', position: 0.5 }]);
});

test('what schema.org has no name for of series and reading is left out, and counted', () => {
  const writer = jsonldCodec.createWriter?.({});
  for (const members of [
    { reading: { status: 'read' } }, { reading: { rating: 4, shelves: ['own'], owned: true } },
    { series: [{ name: 'A', position: 1 }, { name: 'B', position: 2 }] },
    { reading: { rating: 4 }, series: [{ name: 'A', position: 1 }, { name: 'B' }] },
    { reading: { readCount: 1 }, metadata: { mine: 1 } },
  ]) {
    const book = { id: '1', title: 'T', authors: [], ...members };
    writer?.write([Buffer.from(JSON.stringify(book))]);
  }
  assert.equal(writer?.leftOutCount, 4);
  assert.deepEqual(Object.fromEntries(writer?.leftOutMembers ?? []),
    { reading: 3, series: 1, metadata: 1 });
});

test('a review with an author is not the reader\'s, and stays in the source', () => {
  const authored = { ...OWN_REVIEW, reviewBody: 'No.', author: { '@type': 'Person', name: 'R' } };
  const reading = { review: 'Fine.\nTwice.', rating: 4.5 };
  const cases: readonly (readonly [JsonValue, JsonObject | undefined, boolean])[] = [
    [OWN_REVIEW, reading, false],
    [[OWN_REVIEW], reading, false],
    [{ ...OWN_REVIEW, '@id': '#r' }, reading, true],
    [authored, undefined, true],
    [[authored, OWN_REVIEW], reading, true],
    [{ reviewBody: 'R' }, { review: 'R' }, false],
    [{ reviewRating: { ratingValue: '3' } }, { rating: 3 }, false],
    [{ reviewRating: { ratingValue: 3, bestRating: '5' } }, { rating: 3 }, false],
    [{ ...OWN_REVIEW, reviewRating: { ratingValue: 9, bestRating: 10 } }, reading, false],
    [{ reviewRating: { ratingValue: '85', bestRating: '100' } }, { rating: 4.25 }, false],
    [{ reviewRating: { ratingValue: 3, bestRating: 6, worstRating: 1 } }, { rating: 2.5 }, true],
    [{ reviewRating: { ratingValue: 83, bestRating: 100 } }, undefined, true],
    [{ reviewRating: { ratingValue: 11, bestRating: 10 } }, undefined, true],
    [{ reviewRating: { ratingValue: 3, bestRating: 0 } }, undefined, true],
    [{ reviewRating: { ratingValue: 3, bestRating: 'high' } }, undefined, true],
    [{ ...OWN_REVIEW, reviewRating: { ratingValue: 4.3 } }, { review: reading.review }, true],
    [{ ...OWN_REVIEW, reviewBody: 'x'.repeat(100_001) }, { rating: 4.5 }, true],
    [{ ...OWN_REVIEW, name: 'Title' }, reading, true],
    ['A text', undefined, true],
    [{ '@id': '#gone' }, undefined, true],
  ];
  for (const [review, expected, isKept] of cases) {
    const { reading: read, metadata } = readBody({ ...NAME, '@id': 'http://e.org/1', review });
    assert.deepEqual(read, expected, JSON.stringify(review).slice(0, 200));
    const { source } = (metadata ?? {}) as { source?: { jsonld?: JsonObject } };
    const isTooLong = JSON.stringify(review).length > 16_000;
    assert.equal(Object.hasOwn(source?.jsonld ?? {}, 'review'), isKept && !isTooLong);
  }
  const file = write([{ id: '1', authors: [], ...readBody(
    { ...NAME, '@id': 'http://e.org/1', review: [authored, OWN_REVIEW] }) }], true).file;
  assert.deepEqual(JSON.parse(file).review, [authored, OWN_REVIEW]);
});

test('series and reviews are found wherever their nodes stand', () => {
  const nodes = [{ ...BOOK, isPartOf: { '@id': '#s' }, position: '2', review: { '@id': '#r' } },
    { ...SERIES, '@id': '#s' }, { ...OWN_REVIEW, '@id': '#r' }];
  assert.deepEqual(readGraph(nodes), [{
    title: 'T', series: [{ name: 'Discworld', position: 2 }],
    reading: { review: 'Fine.\nTwice.', rating: 4.5 },
  }]);
  const [ours, , review] = nodes;
  assert.deepEqual(readGraph([ours ?? {}, { ...review, author: 'Somebody' }]), [{ title: 'T' }]);
  const prefixed = {
    '@context': { s: 'http://schema.org/' }, '@type': 's:Book', 's:name': 'T',
    's:isPartOf': { '@type': 's:BookSeries', 's:name': 'Discworld' }, 's:position': 2,
    's:review': { '@type': 's:Review', 's:reviewBody': 'R',
      's:reviewRating': { '@type': 's:Rating', 's:ratingValue': 5 } },
  };
  assert.deepEqual(readBody(prefixed), {
    title: 'T', series: [{ name: 'Discworld', position: 2 }],
    reading: { review: 'R', rating: 5 },
  });
});

test('a node whose values are all lists says the same', () => {
  const value = (text: JsonValue): JsonValue => [{ '@value': text }];
  const schema = 'http://schema.org/';
  const { metadata, ...book } = readBody({
    '@type': [`${schema}Book`], [`${schema}name`]: value('T'), [`${schema}position`]: value(2),
    [`${schema}isPartOf`]: [{ '@type': [`${schema}BookSeries`], [`${schema}name`]: value('S') }],
    [`${schema}review`]: [{ '@type': [`${schema}Review`], [`${schema}reviewBody`]: value('R'),
      [`${schema}reviewRating`]: [{ '@type': [`${schema}Rating`],
        [`${schema}ratingValue`]: value(4.5) }] }],
  });
  assert.deepEqual(book, {
    title: 'T', series: [{ name: 'S', position: 2 }], reading: { review: 'R', rating: 4.5 },
  });
  assert.equal(metadata, undefined);
});

test('what a book is a part of and is no series stays in the source, its position with it', () => {
  const journal = { '@type': 'Periodical', name: 'J' };
  for (const [isPartOf, series] of [
    [journal, undefined], ['Discworld', undefined],
    [[SERIES, journal], [{ name: 'Discworld', position: 4 }]],
    [[journal, SERIES], [{ name: 'Discworld' }]],
    [{ ...SERIES, issn: '1' }, [{ name: 'Discworld', position: 4 }]],
  ] as const) {
    const { series: read, metadata } = readBody({ ...NAME, isPartOf, position: 4 });
    assert.deepEqual(read, series);
    assert.deepEqual(metadata, { source: { jsonld: { isPartOf, position: 4 } } });
  }
});

test('a record of another type is no book unless all types are asked for', () => {
  const file = '[{"@type":"Article","name":"A"},{"@type":["Product","Book"],"name":"B"}]';
  assert.deepEqual(read(file).map((record) => 'otherType' in record ? record.otherType : null),
    ['Article', null]);
  assert.deepEqual(read(file, 10, true).filter((record) => 'otherType' in record), []);
});

test('a record that was taken with all types comes back as one of its type', () => {
  const cases: readonly (readonly [members: JsonObject, type: JsonValue, leftOut: number])[] = [
    [{ '@type': 'Article' }, 'Article', 0],
    [{ '@type': 'schema:Article' }, 'Article', 0],
    [{ '@type': 'Audiobook' }, 'Audiobook', 0],
    [{ '@type': ['Product', 'Book'] }, ['Product', 'Book'], 0],
    [{ '@type': 'Article', isbn: '9780441478125' }, ['Article', 'Book'], 0],
    [{ '@type': 'Person' }, ['Person', 'Book'], 0],
    [{ '@type': ['ex:Thing', 'Book'] }, 'Book', 1],
    [{ '@type': 'ex:Thing' }, 'Book', 1],
    [{ '@type': 'Book' }, 'Book', 0],
    [{}, 'Book', 0],
  ];
  for (const [members, type, leftOut] of cases) {
    const [record] = read(JSON.stringify({ ...NAME, ...members }), 1000, true);
    assert.ok(record !== undefined && 'body' in record);
    const { file, leftOutCount } = write([{ id: '1', authors: [], ...record.body }], true);
    assert.deepEqual([JSON.parse(file)['@type'], leftOutCount], [type, leftOut], file);
  }
});

test('an audiobook keeps who reads it and how long it is, which a book cannot have', () => {
  const heard = { readBy: { '@type': 'Person', name: 'R' }, duration: 'PT8H3M' };
  for (const [type, leftOut] of [['Audiobook', 0], ['Book', 1]] as const) {
    const [record] = read(JSON.stringify({ ...NAME, '@type': type, ...heard }));
    assert.ok(record !== undefined && 'body' in record);
    const { file, leftOutCount } = write([{ id: '1', authors: [], ...record.body }], true);
    const { readBy, duration } = JSON.parse(file);
    assert.deepEqual([{ readBy, duration }, leftOutCount],
      [type === 'Audiobook' ? heard : { readBy: undefined, duration: undefined }, leftOut]);
  }
});

test('one book is an object, several are a graph, and none an empty one', () => {
  const book = { id: '1', title: 'T', authors: [{ name: 'A' }] };
  const author = [{ '@type': 'Person', name: 'A' }];
  const node = { '@type': 'Book', '@id': 'urn:uuid:1', name: 'T', author };
  const context = { '@context': 'https://schema.org' };
  assert.deepEqual(JSON.parse(write([book], true).file), { ...context, ...node });
  assert.deepEqual(JSON.parse(write([book]).file), { ...context, '@graph': [node] });
  assert.deepEqual(JSON.parse(write([]).file), { ...context, '@graph': [] });
  assert.deepEqual(read(write([]).file), []);
});

test('what schema.org defines comes back into its file, and what it does not is counted', () => {
  const { file, leftOutCount } = write([
    {
      title: 'T', authors: [],
      metadata: { source: { jsonld: { '@id': 'x', 'schema:genre': 'SF' } } },
    },
    { id: '2', title: 'U', authors: [], metadata: { source: { jsonld: { 'ex:shelf': 'A1' } } } },
    { id: '3', title: 'V', authors: [], metadata: { shelf: 'A1' } },
    { id: '4', title: 'W', authors: [], metadata: { source: { ris: { T2: 'x' } } } },
    {
      id: '5', title: 'X', authors: [],
      metadata: { source: { jsonld: { workExample: { gtin13: '1', 'ex:shelf': 'A1' } } } },
    },
    {
      id: '6', title: 'Y', authors: [],
      metadata: { source: { jsonld: { 'https://schema.org/name': 'Z' } } },
    },
  ]);
  const { '@graph': graph } = JSON.parse(file) as { readonly '@graph': readonly JsonObject[] };
  assert.deepEqual(graph.map(({ name, ...others }) => others), [
    { '@type': 'Book', '@id': 'x', genre: 'SF' },
    ...['2', '3', '4'].map((id) => ({ '@type': 'Book', '@id': `urn:uuid:${id}` })),
    { '@type': 'Book', '@id': 'urn:uuid:5', workExample: { gtin13: '1' } },
    { '@type': 'Book', '@id': 'urn:uuid:6' },
  ]);
  assert.equal(leftOutCount, 5);
});

/** What schema.org defines for each type, of what is written of books (schema.org/<type>). */
const DEFINED: Readonly<Record<string, readonly string[]>> = {
  Book: ['name', 'alternativeHeadline', 'author', 'isbn', 'publisher', 'datePublished',
    'inLanguage', 'numberOfPages', 'bookEdition', 'bookFormat', 'keywords', 'description', 'url',
    'image', 'isPartOf', 'position', 'review'],
  BookSeries: ['name'],
  Review: ['reviewBody', 'reviewRating'],
  Rating: ['ratingValue'],
  Person: ['name', 'givenName', 'familyName', 'birthDate', 'deathDate', 'url', 'address'],
  Organization: ['name'],
  PostalAddress: ['streetAddress', 'addressLocality', 'addressRegion', 'postalCode',
    'addressCountry'],
};

function assertDefined(value: JsonValue | undefined): void {
  if (Array.isArray(value)) return value.forEach((item: JsonValue) => assertDefined(item));
  if (typeof value !== 'object' || value === null) return;
  const { '@type': type, '@id': id, ...members } = value as JsonObject;
  for (const [name, item] of Object.entries(members)) {
    assert.ok(DEFINED[String(type)]?.includes(name), `${String(type)} has no ${name}`);
    assertDefined(item);
  }
}

test('whatever books have in them, only names of schema.org are written', () => {
  const random = createRandom(3309);
  const { file } = write(Array.from({ length: IS_LONG ? 2000 : 200 }, (_, number) =>
    hostileBook(random, number)));
  assertDefined((JSON.parse(file) as JsonObject)['@graph']);
});

longTest('a long context is read once, not again for each node that it is around', () => {
  const names = Array.from({ length: 5000 }, (_, index) => [`p${index}`, `http://x/${index}`]);
  const contexts: readonly JsonValue[] = [
    Object.fromEntries(names),
    names.map((pair) => Object.fromEntries([pair])),
    { ...Object.fromEntries(names), n: `http://x/${'y'.repeat(500_000)}` },
  ];
  const nodes: readonly JsonObject[] = [
    { '@type': 'Book', name: 'A' }, { '@context': { a: 'schema:name' }, a: 'A' },
    { name: 'A', 'n:a': 1, 'n:b': 2, author: { '@context': { a: 'schema:name' }, a: 'B' } },
    { '@context': { a: 'schema:name' }, '@graph': [{ a: 'A' }] },
  ];
  for (const context of contexts) {
    for (const node of nodes) {
      const graph = Array.from({ length: 5000 }, () => node);
      const before = process.cpuUsage();
      const records = read(JSON.stringify({ '@context': context, '@graph': graph }), 65_536);
      const ms = process.cpuUsage(before).user / 1000;
      assert.equal(records.length, graph.length);
      assert.ok(ms < 3000, `${JSON.stringify(node)}: ${Math.round(ms)} ms`);
      const [first] = records;
      assert.ok(first !== undefined && 'body' in first && first.body['title'] === 'A');
    }
  }
});

test('contexts that follow each other in a list are read, however many they are', () => {
  const list = Array.from({ length: 100 }, (_, index) => ({ [`p${index}`]: `http://x/${index}` }));
  const body = readBody({ '@context': [...list, { a: 'schema:name' }], '@type': 'Book', a: 'A' });
  assert.equal(body['title'], 'A');
});

test('a later context changes the terms of those before, and null forgets them', () => {
  const outer = { a: 'schema:name', b: 'schema:publisher', '@vocab': 'http://x/' };
  const cases: readonly (readonly [context: JsonValue, node: JsonObject, members: JsonObject])[] = [
    [outer, { a: 'T', b: 'P', isbn: '9780441478125' }, { title: 'T', publisher: 'P' }],
    [[outer, { b: 'schema:description' }], { a: 'T', b: 'P' }, { title: 'T', description: 'P' }],
    [[outer, [{ b: null }]], { a: 'T', b: 'P' }, { title: 'T' }],
    [[outer, null], { name: 'T', a: 'X', b: 'P' }, { title: 'T' }],
    [[outer, { '@vocab': 'schema:' }], { a: 'T', publisher: 'P' }, { title: 'T', publisher: 'P' }],
    [[{ s: 'https://schema.org/' }, { '@vocab': 's:' }], { name: 'T' }, { title: 'T' }],
  ];
  for (const [context, node, members] of cases) {
    const { metadata, ...body } = readBody({ '@context': context, '@graph': [node] });
    assert.deepEqual(body, members, JSON.stringify(context));
    const { metadata: ownMetadata, ...ownBody } = readBody({ '@context': context, ...node });
    assert.deepEqual(ownBody, members, JSON.stringify(context));
  }
});

test('an IRI is never a name', () => {
  for (const author of [{ name: { '@id': '#p' } }, { '@id': '#p' }]) {
    assert.doesNotMatch(JSON.stringify(readPeople(author)), /#p/);
  }
  assert.equal(readFirst(findTexts({ name: { '@id': '#o' } }, 'Organization')), undefined);
});
