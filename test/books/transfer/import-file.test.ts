/** `POST /api/books/import` of files of other programs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBookServer } from '../../support/book-server.ts';
import type { Answer, BookServer } from '../../support/book-server.ts';
import { longTest } from '../../support/long.ts';

let server: BookServer;

before(async () => {
  server = await startBookServer();
});

after(() => server.close());

const GOODREADS = 'Book Id,Title,Author,Exclusive Shelf,My Review\n'
  + '1,"Emma, again",Jane Austen,read,good\n2,,Nobody,read,\n3,Persuasion,Jane Austen,to-read,\n';

test('first comes what a file is, then a line for each record, last the counts', async () => {
  const answer = await send(GOODREADS, '', 'text/csv');
  const [first, emma, bad, persuasion, count] = lines(answer);
  assert.deepEqual(first, { format: 'goodreads', encoding: 'utf-8' });
  assert.deepEqual([emma?.['status'], persuasion?.['status']], ['imported', 'imported']);
  const detail = 'is required: the record has no text in `Title`';
  assert.deepEqual(bad, {
    line: 3, record: 2, key: '2', status: 'skipped', id: null,
    detail: `/title: ${detail}`, errors: [{ pointer: '/title', detail }],
  });
  assert.deepEqual(count, {
    imported: 2, skipped: 1, replaced: 0, existing: 0, dryRun: false, updated: 0, unchanged: 0,
    leftOut: {},
  });
});

test('the same again changes nothing, a later one updates, and onMatch says how', async () => {
  const statuses = async (text: string, query: string) =>
    lines(await send(text, query, 'text/csv')).slice(1, -1).map(({ status }) => status);
  const later = GOODREADS.replace('good', 'better');
  assert.deepEqual(await statuses(GOODREADS, ''), ['unchanged', 'skipped', 'unchanged']);
  assert.deepEqual(await statuses(later, '?dryRun=true'), ['updated', 'skipped', 'unchanged']);
  assert.deepEqual(await statuses(later, '?onMatch=skip'), ['skipped', 'skipped', 'skipped']);
  assert.deepEqual(await statuses(later, ''), ['updated', 'skipped', 'unchanged']);
  assert.deepEqual(await statuses(later, '?replace=true'), ['unchanged', 'skipped', 'unchanged']);
});

test('a named format wins over the media type, and over none', async () => {
  for (const mediaType of ['application/json', 'application/octet-stream', null]) {
    const answer = await send('0439023513\n', '?format=isbn&dryRun=true', mediaType);
    assert.deepEqual(lines(answer)[0], { format: 'isbn', encoding: 'utf-8' });
  }
});

test('a file that could be two things, or is none, is refused at once', async () => {
  const { size } = server.catalog;
  for (const [body, query, mediaType, expected] of [
    ['Book Id,Title\n1,A\n', '', 'text/csv', /Goodreads export or a LibraryThing export/],
    ['nope,nada\n1,2\n', '', 'text/csv', /the header of the csv: unknown columns/],
    ['nope,nada', '', 'text/csv', /the header of the csv: unknown columns/],
    ['title\nA\n', '?format=csv&match=source', 'text/csv', /csv have no id of their source/],
    ['9780439023481', '?format=isbn&match=source', 'text/plain', /isbn have no id of their source/],
    [GOODREADS, '?format=storygraph', 'text/csv',
      /is a Goodreads export: it has no column that only a StoryGraph export has; .*`goodreads`/],
    [GOODREADS, '?format=librarything', 'text/csv', /the file is a Goodreads export: it has no/],
    ['', '', 'text/plain', /the file is empty: look whether it is the right one/],
  ] as const) {
    const answer = await send(body, query, mediaType);
    assert.equal(answer.status, 422);
    assert.match(answer.text, expected);
  }
  assert.equal(server.catalog.size, size);
});

test('a long file that is refused by its beginning gets its answer all the same', async () => {
  const body = `nope,nada\n${'1,2\n'.repeat(2_000_000)}`;
  const answer = await send(body, '?format=csv', 'text/csv');
  assert.equal(answer.status, 422);
});

longTest('the encoding is told in the first line, or in the last when it shows later', async () => {
  const latin1 = Buffer.from('title\n\xc9mile\n', 'latin1');
  const short = lines(await send(latin1, '?dryRun=true', 'text/csv'));
  assert.equal(short[0]?.['encoding'], 'windows-1252');
  assert.equal(short.at(-1)?.['encoding'], undefined);
  const long = Buffer.concat([Buffer.from(`title\n${'A\n'.repeat(100_000)}`), latin1]);
  const late = lines(await send(long, '?dryRun=true', 'text/csv'));
  assert.equal(late[0]?.['encoding'], 'utf-8');
  assert.equal(late.at(-1)?.['encoding'], 'windows-1252');
});

const BIBTEX = '@book{k, title={\xa3\xf3d\x9f}}\n';

test('a declared encoding is that of the file, unless a mark says another', async () => {
  const windows1250 = 'windows-1250';
  for (const [bytes, query, mediaType, encoding, title] of [
    ['title\n\xa3\xf3d\xbc\n', '', 'text/csv; charset=ISO-8859-2', 'iso-8859-2', 'Łódź'],
    ['title\n\xa3\xf3d\x9f\n', '?format=csv', 'text/csv;charset="cp1250"', windows1250, 'Łódź'],
    ['[{"title":"\xa3\xf3d\x9f"}]', '', 'application/json; charset=Cp1250', windows1250, 'Łódź'],
    ['TY  - BOOK\nTI  - \xa3\xf3d\x9f\nER  - \n', '?format=ris', 'text/plain; charset=windows-1250',
      windows1250, 'Łódź'],
    [`% JabRef\n%% Encoding: Cp1250\n\n${BIBTEX}`, '', 'text/x-bibtex', windows1250, 'Łódź'],
    [`% Encoding: ISO8859_2\r\n${BIBTEX}`, '', 'text/x-bibtex', 'iso-8859-2', 'Łód\x9f'],
    [`% Encoding: Cp1250\n${BIBTEX}`, '', 'text/x-bibtex; charset=latin2', 'iso-8859-2', 'Łód\x9f'],
    [`@comment{\n}\n% Encoding: x-no\n${BIBTEX}`, '', 'text/x-bibtex', 'windows-1252', '£ódŸ'],
    [`% Encoding: US_ASCII\n${BIBTEX}`, '', 'text/x-bibtex', 'windows-1252', '£ódŸ'],
    ['\xef\xbb\xbftitle\n\xc3\xa9\n', '', 'text/csv; charset=iso-8859-2', 'utf-8', 'é'],
    ['\0t\0i\0t\0l\0e\0\n\0\xe9', '', 'text/csv; charset=utf-16be', 'utf-16be', 'é'],
    ['title\n\x93\xfa\n', '', 'text/csv; charset=shift_jis', 'shift_jis', '日'],
  ] as const) {
    const answer = await send(Buffer.from(bytes, 'latin1'), query, mediaType);
    const [first, { id } = {}] = lines(answer);
    assert.equal(first?.['encoding'], encoding, answer.text);
    const book = await server.ask('GET', `/api/books/${String(id)}`);
    assert.equal(JSON.parse(book.text).title, title, mediaType);
  }
  for (const [charset, name] of [['utf-8', 'UTF-8'], ['shift_jis', 'SHIFT_JIS']]) {
    const [, record] = lines(await send(
      Buffer.from('title\n\x93\n', 'latin1'), '', `text/csv; charset=${charset}`));
    assert.match(String(record?.['detail']), new RegExp(`not valid ${name}`));
  }
});

test('an unknown charset is refused with those that are known', async () => {
  for (const [body, mediaType, status, name] of [
    ['title\nA\n', 'text/csv; charset=ebcdic', 415, 'ebcdic'],
    ['title\nA\n', 'text/csv; charset="x-no"', 415, 'x-no'],
    [`% Encoding: Cp850\n${BIBTEX}`, 'text/x-bibtex', 422, 'Cp850'],
  ] as const) {
    const answer = await send(body, '', mediaType);
    assert.equal(answer.status, status, answer.text);
    assert.match(JSON.parse(answer.text).detail, new RegExp(
      `the charset "${name}" is unknown: known are utf-8, .*windows-1250, .*iso-8859-2, `));
  }
});

test('what does not fit into the metadata is left out and counted by its name', async () => {
  const row = `9,Long,A B,read,${'x'.repeat(100_001)}\n`;
  const answer = await send(GOODREADS.replace(/\n2,[^]*/, `\n${row}`), '?dryRun=true', 'text/csv');
  assert.deepEqual(lines(answer).at(-1)?.['leftOut'], { 'My Review': 1 });
});

type Line = Readonly<Record<string, unknown>>;

function send(body: string | Buffer, query: string, mediaType: string | null): Promise<Answer> {
  return server.ask('POST', `/api/books/import${query}`, body,
    mediaType === null ? {} : { 'Content-Type': mediaType });
}

function lines({ status, text }: Answer): readonly Line[] {
  assert.equal(status, 200, text);
  return text.trimEnd().split('\n').map((line): Line => JSON.parse(line));
}

test('columns of a csv hold what their names say, or what the caller says', async () => {
  const file = 'Book name;Scribe;Shop\nMomo;Michael Ende;Oxfam\n';
  const [first, , count] = lines(await send(file, '?dryRun=true', 'text/csv'));
  assert.deepEqual(first, {
    format: 'csv', encoding: 'utf-8', columns: {
      'Book name': 'title', 'Scribe': 'metadata.Scribe', 'Shop': 'metadata.Shop',
    },
  });
  assert.deepEqual(count?.['ownColumns'], { Scribe: 1, Shop: 1 });
  const query = '?column=scribe%3Dauthors&column=Shop=none';
  const [mapped, record] = lines(await send(file, query, 'text/csv'));
  assert.deepEqual(mapped?.['columns'],
    { 'Book name': 'title', 'Scribe': 'authors', 'Shop': 'none' });
  const stored = await server.ask('GET', `/api/books/${String(record?.['id'])}`);
  const book = JSON.parse(stored.text);
  assert.deepEqual([book['authors'], book['metadata']], [[{ name: 'Michael Ende' }], undefined]);
});

test('what is wrong with a header or with the columns of a caller is told before all', async () => {
  const unknown = await send('Buch;Autor\nMomo;Michael Ende\n', '', 'text/csv');
  assert.equal(unknown.status, 422);
  assert.deepEqual(JSON.parse(unknown.text).columns, { Buch: 'metadata.Buch', Autor: 'authors' });
  for (const [query, text, status, detail] of [
    ['?column=Buch', 'title\nA\n', 400, /^`column` must be a column of the file and a member/],
    ['?column=A=titl', 'title\nA\n', 400, /^`column` has no member "titl" for "A": did you mean/],
    ['?column=Buch=isbn', 'title\nA\n', 422, /there is no column "Buch": there are "title"/],
    ['?column=Title=title', GOODREADS, 422, /^the file is a Goodreads export, whose columns are/],
    ['?fromMetadata=true&column=A=title', '', 400, /reads no file: leave out `column`/],
  ] as const) {
    const answer = await send(text, query, 'text/csv');
    assert.equal(answer.status, status, query);
    assert.match(String(JSON.parse(answer.text).detail), detail);
  }
});

test('a verbose dry run shows what each record says of the book', async () => {
  const file = 'title,authors,isbn,reading.status,reading.rating,reading.finishedOn,'
    + 'reading.review,inLanguage\nMomo,Michael Ende,1,read,4,2024,good,de\n,x,,,,,,\n';
  const [, momo, bad] = lines(await send(file, '?dryRun=true&verbose=true', 'text/csv'));
  assert.deepEqual(momo?.['book'], {
    title: 'Momo', authors: [{ name: 'Michael Ende' }], inLanguage: 'de',
    reading: { status: 'read', rating: 4, finishedOn: '2024' },
  });
  assert.deepEqual([bad?.['status'], bad?.['book']], ['skipped', undefined]);
  const [, wet] = lines(await send(file, '?verbose=true', 'text/csv'));
  assert.equal(wet?.['book'], undefined);
});
