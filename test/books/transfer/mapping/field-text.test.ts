import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBookFormat } from '../../../../src/books/transfer/mapping/book-format.ts';
import { combineDates, readDate } from '../../../../src/books/transfer/mapping/date-text.ts';
import {
  readAlike, readKeywords, readPages,
} from '../../../../src/books/transfer/mapping/field-text.ts';
import { part, whole } from '../../../../src/books/transfer/mapping/format-table.ts';
import { readIsbn } from '../../../../src/books/transfer/mapping/isbn-text.ts';
import { readLanguage } from '../../../../src/books/transfer/mapping/language.ts';
import {
  readAuthorNames, splitJoinedNames, splitNames,
} from '../../../../src/books/transfer/mapping/person-name.ts';
import { splitShelves } from '../../../../src/books/transfer/mapping/reading-text.ts';
import {
  readSeriesNames, readSeriesOfTitle,
} from '../../../../src/books/transfer/mapping/series-title.ts';

test('a date is read in the forms that programs write', () => {
  const cases: readonly (readonly [text: string, date: ReturnType<typeof readDate>])[] = [
    ['1969', whole('1969')], ['2023/01/05', whole('2023-01-05')], ['2023-1-5', whole('2023-01-05')],
    ['1969-05', whole('1969-05')], ['2019-03-05T00:00:00+00:00', whole('2019-03-05')],
    ['2019-03-05T10:30:00Z', part('2019-03-05')], ['1969///', whole('1969')],
    ['1969/03//', whole('1969-03')], ['1969/03//Spring', part('1969-03')],
    ['1969/', part('1969')], ['2019-03-05/2019-04-01', part('2019-03-05')],
    ['5 Mar. 1969', whole('1969-03-05')], ['March 5, 1969', whole('1969-03-05')],
    ['5. Mai 2021', whole('2021-05-05')], ['März 2021', whole('2021-03')],
    ['30. April 2020', whole('2020-04-30')], ['1. Juni 2019', whole('2019-06-01')],
    ['Okt. 2018', whole('2018-10')], ['12. DEZEMBER 2019', whole('2019-12-12')],
    ['Jänner 2020', whole('2020-01')], ['1er août 2021', whole('2021-08-01')],
    ['14 juil. 2020', whole('2020-07-14')], ['5 de mayo de 2021', whole('2021-05-05')],
    ['septiembre de 2018', whole('2018-09')], ['May 5th, 2021', whole('2021-05-05')],
    ['jui 2020', part('2020')], ['Frühling 2018', part('2018')], ['1. Juni', undefined],
    ['800', whole('0800')], ['800-05', whole('0800-05')], ['-750', undefined],
    ['c1969', part('1969')], ['[1969?]', part('1969')], ['©1969', part('1969')],
    ['spring 1969', part('1969')], ['1969~', part('1969')],
    ['', undefined], ['12/05/19', undefined], ['12-05', undefined], ['8', undefined],
  ];
  for (const [text, date] of cases) assert.deepEqual(readDate(text), date, text);
});

test('a date with its year last is read where day and month are sure, and is doubtful else', () => {
  const doubtful = { ...part('2018'), isDoubtful: true };
  for (const [text, date] of [
    ['03.11.2018', whole('2018-11-03')], ['3. 11. 2018', whole('2018-11-03')],
    ['25/12/2018', whole('2018-12-25')], ['12/25/2018', whole('2018-12-25')],
    ['3/3/2018', whole('2018-03-03')], ['25-12-2018', whole('2018-12-25')],
    ['3/11/2018', doubtful], ['05-01-2018', doubtful], ['13.13.2018', part('2018')],
    ['31.02.2018', part('2018-02')], ['25/13/2018', part('2018')], ['3/11.2018', part('2018')],
    ['3/11/0000', undefined],
  ] as const) assert.deepEqual(readDate(text), date, text);
});

test('of a date what is sure is kept, and nothing is invented', () => {
  for (const [text, date] of [
    ['199X', undefined], ['199?', undefined], ['19XX', undefined], ['1999-XX', part('1999')],
    ['2013-00-00', part('2013')], ['2001-21', part('2001')], ['1990-02-30', part('1990-02')],
    ['30-Mar-2020', part('2020')], ['750 BC', undefined], ['0000', undefined], ['12345', undefined],
    ['Marching 1999', part('1999')], ['[0000]', undefined],
  ] as const) assert.deepEqual(readDate(text), date, text);
});

test('an ISBN is found in a formula, in brackets and alone, and none where there is none', () => {
  for (const [text, isbn] of [
    ['="0439023483"', '9780439023481'], ['[0439023483]', '9780439023481'],
    [' 978-0-439-02348-1 ', '9780439023481'], ['0028-0836', null], ['=""', null], ['', null],
    ['B00X', null],
  ] as const) {
    assert.deepEqual(readIsbn([text]), isbn === null ? undefined : whole(isbn), text);
  }
  for (const text of ['9.78E+12', '9780439023482', '978-0-439-02348-2']) {
    assert.deepEqual(readIsbn(['', text]), part(text), 'meant for one');
  }
  assert.deepEqual(readIsbn(['', '0439023483', 'B00X']), part('9780439023481'));
  assert.deepEqual(readIsbn(['', '0439023483']), whole('9780439023481'));
  assert.equal(readIsbn(['', 'B00X']), undefined);
});

test('several dates are one as precise as one of them, and part where they differ', () => {
  for (const [texts, date] of [
    [['1969', '1969-03-05'], whole('1969-03-05')], [['1969-03', '1969'], whole('1969-03')],
    [['1969', '1970-01'], part('1969')], [['soon', '1969'], part('1969')], [[], undefined],
  ] as const) assert.deepEqual(combineDates(texts.map(readDate)), date, texts.join());
});

test('a language said twice is whole, and part where one name of it is unknown', () => {
  for (const [texts, language] of [
    [['Greek (Ancient)', 'grc'], whole('grc')], [['Klingonese', 'tlh'], part('tlh')],
    [['English', 'fre'], part('en')], [[''], undefined],
  ] as const) assert.deepEqual(readAlike(texts, readLanguage), language, texts.join());
});

test('pages and keywords are read out of their texts', () => {
  assert.deepEqual(['374', '374 p.', '12 pages', 'xii, 374', '-3', ''].map(readPages),
    [whole(374), whole(374), whole(12), undefined, undefined, undefined]);
  assert.deepEqual(readPages('0'), part(null), 'nobody said anything');
  assert.deepEqual(readKeywords(' a, b c ,,d'), whole(['a', 'b c', 'd']));
  assert.deepEqual(readKeywords('a; b, c'), whole(['a; b', 'c']));
  assert.deepEqual(readKeywords('a; b'), whole(['a', 'b']));
  assert.equal(readKeywords(' , '), undefined);
});

test('a format of books is read whatever its case and accents', () => {
  assert.deepEqual(['HARDCOVER', 'Broché', 'E-book', 'Vellum'].map(readBookFormat),
    [whole('Hardcover'), part('Paperback'), whole('EBook'), undefined]);
});

test('a comma within a name does not end it', () => {
  for (const [text, names] of [
    ['A B, C D', ['A B', 'C D']], ['A B, Jr., C D', ['A B, Jr.', 'C D']],
    ['A B, Ph.D., M.D., C', ['A B, Ph.D., M.D.', 'C']], ['Jr., A', ['Jr.', 'A']], ['', []],
    ['Walt Disney Company, Inc., A  B', ['Walt Disney Company, Inc.', 'A B']],
  ] as const) assert.deepEqual(splitNames(text), names);
});

// Each piece of a list takes a microsecond or more, and a text may have 128,000.
const LIST_READERS: Readonly<Record<string, readonly [
  piece: string, read: (text: string) => unknown,
]>> = {
  'joined names': ['A B & ', (text) => splitJoinedNames(`${text}A B`)],
  'names': ['A,', splitNames],
  'authors': ['A, B;', readAuthorNames],
  'shelves': ['a,', splitShelves],
  'keywords': ['a;', (text) => readKeywords(text)?.value],
  'series': ['a;', (text) => readSeriesNames(text)?.value],
  'series of a title': ['a #1;', (text) => readSeriesOfTitle(`A (${text}a #1)`)?.value],
  'brackets of a title': [' (a #1)', (text) => readSeriesOfTitle(`A${text}`)?.value],
};

for (const [what, [piece, read]] of Object.entries(LIST_READERS)) {
  test(`of a long list of ${what} no more is made than the model may take`, () => {
    const items = read(piece.repeat(100_000));
    assert.ok(Array.isArray(items) && items.length <= 101, String(Object(items).length));
    const few = read(piece.repeat(50));
    assert.ok(Array.isArray(few) && few.length >= 50, String(Object(few).length));
  });
}

test('a series list is whole only where all of it was read', () => {
  assert.equal(readSeriesNames('A; B')?.isWhole, true);
  assert.equal(readSeriesNames(`A;${', ;'.repeat(200)}B`)?.isWhole, false);
});
