/** `POST /api/books/import` of files of other programs. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startBookServer } from '../../support/book-server.ts';
import type { Answer, BookServer } from '../../support/book-server.ts';

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

test('the encoding is told in the first line, or in the last when it shows later', async () => {
  const latin1 = Buffer.from('title\n\xc9mile\n', 'latin1');
  const short = lines(await send(latin1, '?dryRun=true', 'text/csv'));
  assert.equal(short[0]?.['encoding'], 'windows-1252');
  assert.equal(short.at(-1)?.['encoding'], undefined);
  const long = Buffer.concat([Buffer.from(`title\n${'A\n'.repeat(100_000)}`), latin1]);
  const late = lines(await send(long, '?dryRun=true', 'text/csv'));
  assert.equal(late[0]?.['encoding'], 'utf-8');
  assert.equal(late.at(-1)?.['encoding'], 'windows-1252');
});

test('what does not fit into the metadata is left out and counted by its name', async () => {
  const row = `9,Long,A B,read,${'x'.repeat(20_000)}\n`;
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
