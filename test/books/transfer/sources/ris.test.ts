/** Books come and go as RIS; round-trips.test.ts has whole catalogs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import { risCodec } from '../../../../src/books/transfer/sources/ris.ts';
import { bodyOf, importBook, readText, writeText } from '../../../support/format-round-trip.ts';

function readOne(lines: readonly string[], hasAllTypes = false): JsonObject {
  const text = [...lines, 'ER  - ', ''].join('\n');
  const records = readText(risCodec, text, { hasAllTypes });
  assert.equal(records.length, 1);
  return bodyOf(records[0]);
}

function sourceOf(book: JsonObject): JsonValue | undefined {
  return (book['metadata'] as { source?: { ris?: JsonValue } } | undefined)?.source?.ris;
}

test('no control character stands in a line, as a zero ends it for some programs', () => {
  const book = {
    id: 'b1', title: 'A\u0000B\u001f', authors: [{ name: 'Ann\u007f Lee' }],
    keywords: ['\u0007', 'x'],
  };
  assert.match(writeText(risCodec, [book]), /^TI  - AB\r\nAU  - Lee, Ann\r\nKW  - x\r\n/m);
});

test('a record of Zotero is read, and what the model lacks is kept as it stood', () => {
  const book = readOne([
    'TY  - BOOK', 'TI  - Animal Farm: A Fairy Story', 'AU  - Orwell, George', 'A2  - Doe, Jane',
    'CN  - PR6029', 'CY  - London', 'DA  - 2008/07/03/', 'PY  - 2008', 'ET  - 2nd',
    'LA  - eng', 'PB  - Penguin', 'SN  - 978-0-14-103613-7', 'SP  - 112',
    'UR  - https://a.example/',
    'KW  - satire', 'KW  - fable', 'AB  - Some animals.',
  ]);
  assert.deepEqual(book, {
    title: 'Animal Farm', subtitle: 'A Fairy Story',
    authors: [{ name: 'George Orwell', givenName: 'George', familyName: 'Orwell' }],
    isbn: '9780141036137', publisher: 'Penguin', datePublished: '2008-07-03', inLanguage: 'en',
    numberOfPages: 112, bookEdition: '2nd', keywords: ['satire', 'fable'],
    description: 'Some animals.', url: 'https://a.example/',
    metadata: { source: { ris: { A2: 'Doe, Jane', CN: 'PR6029', CY: 'London' } } },
  });
});

test('each tag that programs use for a member is read', () => {
  const cases: readonly (readonly [line: string, member: string, value: JsonValue])[] = [
    ['T1  - A', 'title', 'A'], ['CT  - A', 'title', 'A'], ['BT  - A', 'title', 'A'],
    ['N2  - A', 'description', 'A'], ['Y1  - 1969///', 'datePublished', '1969'],
    ['PY  - 1969/03/05/', 'datePublished', '1969-03-05'],
    ['DA  - 1969/03//Spring', 'datePublished', '1969-03'], ['PY  - c1969', 'datePublished', '1969'],
    ['DA  - March 5, 1969', 'datePublished', '1969-03-05'],
    ['PY  - 1969/02/31/', 'datePublished', '1969-02'],
    ['SN  - 0-441-47812-3 (pbk.)', 'isbn', '9780441478125'],
    ['LA  - German', 'inLanguage', 'de'], ['SP  - 304 p.', 'numberOfPages', 304],
  ];
  for (const [line, member, value] of cases) {
    assert.deepEqual(readOne(['TY  - BOOK', line])[member], value, line);
  }
});

test('rich text of Zotero is plain text here, and comes out again as it stood', () => {
  const book = readOne(['TY  - BOOK', 'TI  - On <i>E. coli</i> &amp; all']);
  assert.equal(book['title'], 'On E. coli & all');
  assert.match(writeText(risCodec, [importBook(book)]), /^TI  - On <i>E. coli<\/i> &amp; all\r\n/m);
});

test('authors are read from all tags of theirs, with suffixes and as organizations', () => {
  const { authors } = readOne([
    'TY  - BOOK', 'TI  - A', 'A1  - Orwell, George', 'AU  - King, Martin Luther, Jr.',
    'AU  - World Health Organization', 'AU  - Apple, Inc.',
  ]);
  assert.deepEqual(authors, [
    { name: 'Martin Luther King Jr.', givenName: 'Martin Luther', familyName: 'King' },
    { name: 'World Health Organization' },
    { name: 'Apple, Inc.' },
    { name: 'George Orwell', givenName: 'George', familyName: 'Orwell' },
  ]);
  const list = readOne(['TY  - BOOK', 'TI  - A', 'AU  - Roe, P.; Mont, M.']);
  assert.deepEqual(list['authors'], [{ name: 'P. Roe', givenName: 'P.', familyName: 'Roe' },
    { name: 'M. Mont', givenName: 'M.', familyName: 'Mont' }]);
  assert.deepEqual(list['metadata'], { source: { ris: { AU: 'Roe, P.; Mont, M.' } } });
});

test('a value that the model refuses is kept in the source, and the book stays', () => {
  const lines = [
    'TY  - BOOK', 'TI  - A', 'SN  - 9.78E+12', 'PY  - -750', 'SP  - 0', 'UR  - ftp://a.example/',
    'LA  - Klingonese', 'ID  - a1',
  ];
  const book = readOne(lines);
  assert.deepEqual(Object.keys(book), ['title', 'metadata']);
  assert.deepEqual(sourceOf(book), {
    SN: '9.78E+12', PY: '-750', SP: '0', UR: 'ftp://a.example/', LA: 'Klingonese', ID: 'a1',
  });
});

test('the first series has tags of its own, and all else of series and reading the rest', () => {
  const series = [{ name: 'Discworld', position: 4 }, { name: 'Death', position: 1.5 }];
  const reading = { status: 'read', rating: 4.5, review: 'Fine.\nER  - \r\nTwice.' };
  const text = writeText(risCodec, [{ id: 'a', title: 'Mort', authors: [], series, reading }]);
  assert.match(text, /^T2 {2}- Discworld\r\nM1 {2}- 4\r$/m);
  const { metadata, ...body } = bodyOf(readText(risCodec, text)[0]);
  assert.deepEqual(body, { title: 'Mort', series, reading });
  const one = writeText(risCodec, [{ title: 'Mort', authors: [], series: series.slice(0, 1) }]);
  assert.doesNotMatch(one, /^U5/m);
});

test('a title is that of a series in a book alone, and a number without one is none', () => {
  const title = ['TI  - A', 'T2  - S', 'M1  - 3'];
  assert.deepEqual(readOne(['TY  - BOOK', ...title])['series'], [{ name: 'S', position: 3 }]);
  const [chapter] = readText(risCodec, ['TY  - CHAP', ...title, 'ER  - '].join('\n'),
    { hasAllTypes: true }).map(bodyOf);
  assert.equal(chapter?.['series'], undefined);
  assert.deepEqual(sourceOf(chapter ?? {}), { TY: 'CHAP', T2: 'S', M1: '3' });
  assert.deepEqual(sourceOf(readOne(['TY  - BOOK', 'TI  - A', 'M1  - 3'])), { M1: '3' });
});

test('an ISSN and all but the first of several values stay in the source', () => {
  const book = readOne([
    'TY  - BOOK', 'TI  - A', 'TI  - B', 'SN  - 0028-0836', 'SN  - 9780441478125', 'PB  - Ace',
    'PB  - Gollancz',
  ]);
  assert.deepEqual([book['title'], book['isbn'], book['publisher']], ['A', '9780441478125', 'Ace']);
  assert.deepEqual(sourceOf(book),
    { TI: ['A', 'B'], SN: ['0028-0836', '9780441478125'], PB: ['Ace', 'Gollancz'] });
});

test('fields that the source has are given back as they stood, until the book is edited', () => {
  const lines = ['TY  - EDBOOK', 'ID  - a1', 'TI  - A', 'SN  - 0441478123; 978-0-441-47812-5x',
    'CY  - London', 'N1  - one', 'N1  - two'];
  const book = importBook(readOne(lines));
  assert.equal(writeText(risCodec, [book]), [...lines, 'ER  - ', '', ''].join('\r\n'));
  const edited = writeText(risCodec, [{ ...book, isbn: '9780141036137' }]);
  assert.match(edited, /^SN {2}- 9780141036137\r$/m);
  assert.match(edited, /^CY {2}- London\r$/m);
});

test('a date under another tag stands alone, as it stood', () => {
  const lines = ['TY  - BOOK', 'ID  - a1', 'TI  - A', 'Y1  - 1999/05/12/spring'];
  const book = importBook(readOne(lines));
  assert.equal(book['datePublished'], '1999-05-12');
  assert.equal(writeText(risCodec, [book]), [...lines, 'ER  - ', '', ''].join('\r\n'));
});

test('what another program changed in a written record counts, and the rest stays', () => {
  const sample = {
    id: 'a', title: 'A', authors: [{ name: 'George Orwell' }], bookFormat: 'Hardcover',
  };
  const text = writeText(risCodec, [sample]).replace('Orwell, George', 'Blair, Eric');
  const book = bodyOf(readText(risCodec, text)[0]);
  assert.deepEqual(book['authors'],
    [{ name: 'Eric Blair', givenName: 'Eric', familyName: 'Blair' }]);
  assert.equal(book['bookFormat'], 'Hardcover');
});

test('a rest that another program made up is read as far as the model takes it', () => {
  for (const rest of ['{"keywords":{}}', '{"authors":{},"title":5}', '{"constructor":1}', '[1]']) {
    const book = readOne(['TY  - BOOK', 'TI  - A', `U5  - hookshelf:${rest}`]);
    assert.equal(book['title'], 'A');
    assert.doesNotThrow(() => writeText(risCodec, [importBook(book)]), rest);
  }
});

test('a record that has lost its title is read, and has none', () => {
  const book = readOne(['TY  - BOOK', 'AU  - Orwell, George', 'U5  - hookshelf:{"isbn":null}']);
  assert.equal(book['title'], undefined);
});

test('articles are counted by their kind, and taken for books only when asked', () => {
  const text = 'TY  - JOUR\nTI  - A\nSP  - 12\nER  - \nTY  - EBOOK\nTI  - B\nER  - \n';
  const [article, book] = readText(risCodec, text);
  assert.deepEqual(article, { line: 1, key: null, otherType: 'JOUR' });
  assert.deepEqual(bodyOf(book), { title: 'B', bookFormat: 'EBook' });
  const all = readText(risCodec, text, { hasAllTypes: true }).map(bodyOf);
  assert.deepEqual(all[0], { title: 'A', metadata: { source: { ris: { TY: 'JOUR', SP: '12' } } } });
  const written = writeText(risCodec, all.map(importBook));
  assert.deepEqual(written.match(/^TY.*$/gm), ['TY  - JOUR', 'TY  - EBOOK']);
});

test('a rest that is nested too deep is no rest of ours, and the record stays', () => {
  const deep = `{"metadata":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const book = readOne(['TY  - BOOK', 'TI  - T', `U5  - hookshelf:${deep}`]);
  assert.equal(book['title'], 'T');
});
