import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import {
  findFormatByEnding, findFormatByMediaType, findFormatByName, recogniseFormat,
  resolveFormat,
} from '../../../src/books/transfer/recognise-format.ts';

test('a name, an ending or a media type of one format alone decides', () => {
  assert.deepEqual(['csv', 'JSONL', 'ndjson', 'books'].map(findFormatByName),
    ['csv', 'jsonl', 'jsonl', null]);
  assert.deepEqual(['a.JSONL', 'a.b.ndjson', 'json', '-'].map(findFormatByEnding),
    ['jsonl', 'jsonl', null, null]);
  assert.deepEqual(['application/jsonl', 'text/html'].map(findFormatByMediaType), ['jsonl', null]);
});

test('an ending and a media type that several formats have name the same family', () => {
  for (const [ending, mediaType] of [
    ['a.csv', 'text/csv'], ['a.TSV', 'text/tab-separated-values'], ['a.json', 'application/json'],
    ['a.txt', 'text/plain'],
  ] as const) {
    const family = findFormatByEnding(ending);
    assert.equal(typeof family, 'object');
    assert.equal(findFormatByMediaType(mediaType), family);
  }
});

test('a header of our own columns alone is our csv, whatever its case and separator', () => {
  for (const header of [
    'title', 'Title,Authors,ISBN', 'title;isbn', 'title\tpublisher\r\n', '\n\n"title","authors"',
    'id,createdAt,updatedAt,title', 'nothing known', '',
    // A person's own table, with words that Goodreads and LibraryThing have too.
    'Title,Author', 'Title;Author;ISBN', 'Title,Tags,Author,Rating',
  ]) assert.equal(recognise('a.csv', header), 'csv', header);
});

test('a header of very many columns is told in a few milliseconds', () => {
  const family = findFormatByEnding('a.csv');
  assert.ok(typeof family === 'object' && family !== null);
  const columns = Array.from({ length: 20_000 }, (_, index) => `#${index.toString(36)}`);
  const readMs = (header: string): number => {
    const startMs = process.cpuUsage().user;
    for (let run = 0; run < 10; run += 1) recogniseFormat(family, Buffer.from(header));
    return (process.cpuUsage().user - startMs) / 10_000;
  };
  const head = ['author_sort', ...columns].join(',');
  assert.equal(recognise('a.csv', head), 'calibre');
  // On one core some 3 ms; without a bound above 100.
  assert.ok(readMs(head) < 40, `${readMs(head)} ms`);
});

test('a json file of our own members is ours, also where it is cut or broken', () => {
  for (const text of [
    '[{"title":"A"}]', '{"title":"A","authors":[{"name":"B"}]}\n{"title":"C"}', '[1,2]', '',
    '[{"tit', '[{"title":"A","metadata":{"@type":"x","issued":1}}]', '[{"title":"A","author":"B"}]',
    '[{"title":"A","authors":[],"type":"book"}]',
  ]) assert.equal(recognise('a.json', text), 'json', text);
});

test('an export is known by the columns of its program, also some of them, in any order', () => {
  for (const [header, format] of [
    [' , \n;;\n""\nExclusive Shelf,Title,My Rating', 'goodreads'],
    ['"Book Id";"Title";"Author"', 'goodreads'],
    ['Title,Authors,ISBN/UID,Read Status,My own', 'storygraph'],
    ['Book Id\tTitle\tPrimary Author', 'librarything'], ['title,authors,uuid', 'calibre'],
    ['title,author_text,remote_id,isbn_13,rating,shelf', 'bookwyrm'],
    ['Work ID,Title,Authors,First Publish Year,Bookshelf,My Ratings', 'openlibrary'],
    ['Work Id,Edition Id,Bookshelf', 'openlibrary'],
    ['author_sort,authors,title,#shelf', 'calibre'], ['title,author,comments', 'csv'],
  ] as const) assert.equal(recognise('a.csv', header), format, header);
});

test('a file that could be two things is refused with both names', () => {
  for (const [path, text, names] of [
    ['a.csv', 'Book Id,Title', /Goodreads .* or a LibraryThing .*, goodreads or librarything$/],
    ['a.tsv', 'Author l-f\tMy Rating\tMoods\tPace', /, goodreads or storygraph$/],
    ['a.csv', 'title,datePublished,uuid,author_sort', /CSV or a Calibre .*, csv or calibre$/],
  ] as const) {
    assert.throws(() => recognise(path, text),
      (thrown) => thrown instanceof AppError && thrown.code === 'invalid'
        && names.test(thrown.message), text);
  }
});

test('a file is refused for a named format where only another program has its names', () => {
  const columns = 'Book Id,Title,Author,Read Count,My Rating,Bookshelves';
  for (const [format, text, problem] of [
    ['storygraph', columns, /the file is a Goodreads export: .* a StoryGraph export has; .*`goo/],
    ['openlibrary', columns, /`goodreads`, or none$/], ['goodreads', columns, null],
    ['storygraph', `${columns},Moods`, null], ['csv', columns, null],
    ['storygraph', 'Title,Author,ISBN', null], ['storygraph', 'Author l-f,Cutter,Weight', null],
    ['storygraph', 'My Rating,Moved,x', null], ['librarything', '{"7":{"books_id":"7"}}', null],
    ['librarything', '[{"type":"book","issued":1,"DOI":"x"}]', /the file is CSL-JSON: it has no/],
    ['csl', '{"@context":"https://schema.org","name":"A"}', /the file is JSON-LD: it has no memb/],
    ['bibtex', columns, null], ['jsonl', '{"@context":"x"}', null],
  ] as const) {
    const resolve = (): string => resolveFormat(format, Buffer.from(text));
    if (problem === null) assert.equal(resolve(), format, text);
    else assert.throws(resolve, problem, text);
  }
});

test('a few names of another program do not make an export ambiguous', () => {
  for (const [header, format] of [
    ['Book Id,Title,Author,Author l-f,Bookshelves,My Rating,Exclusive Shelf,Moods', 'goodreads'],
    ['title,authors,author_sort,uuid,timestamp,size,datePublished', 'calibre'],
  ] as const) assert.equal(recognise('a.csv', header), format, header);
});

test('bibliographies are known by their members and lines, also under a common ending', () => {
  assert.deepEqual(['a.csl.json', 'a.jsonld', 'a.bib', 'a.ris'].map(findFormatByEnding),
    ['csl', 'jsonld', 'bibtex', 'ris']);
  assert.equal(recognise('a.json', '[{"id":"x","type":"book","title":"A","author":[]}]'), 'csl');
  assert.equal(recognise('a.json', '{"@context":"https://schema.org","name":"A"}'), 'jsonld');
  assert.equal(recognise('a.json', '[{"@type":["http://schema.org/Book"],"http'), 'jsonld');
  assert.equal(recognise('a.json', '[{"@type":"Book","isbn":"1","datePublished":"2"}]'), 'jsonld');
  assert.equal(recognise('a.txt', 'TY  - BOOK\r\nTI  - A\r\nER  - '), 'ris');
  assert.equal(recognise('a.txt', '% mine\n@book{x, title = {A}}'), 'bibtex');
});

test('an object of records by number is LibraryThing\'s, and plain text a list of ISBNs', () => {
  assert.equal(recognise('a.json', '{"7":{"books_id":"7","title":"A"},"8":{"boo'), 'librarything');
  assert.equal(recognise('a.txt', '\n978-0-439-02348-1\n'), 'isbn');
  assert.equal(recognise('a.txt', 'ISBN 0439023513\nsomething else\n'), 'isbn');
  assert.equal(recognise('a.txt', 'something else\n'), 'isbn');
});

function recognise(path: string, text: string): string {
  const family = findFormatByEnding(path);
  assert.ok(family !== null && typeof family !== 'string');
  return recogniseFormat(family, Buffer.from(text));
}
