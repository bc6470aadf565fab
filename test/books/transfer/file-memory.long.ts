/**
 * Reading a large file takes hardly more memory than reading one record, whether the file is one
 * record without an end or very many. A process of its own reads each file, which is made as it is
 * read.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { FORMATS } from '../../../src/books/transfer/format-list.ts';
import type { FormatName } from '../../../src/books/transfer/format-list.ts';
import { compile } from '../../support/compile.ts';

/** Twice the growth that is allowed; all files together take some 150 s of processor time. */
const MEGABYTES = 100;
/** What is read in pieces grows by 13 to 41 MB, however long it is. */
const GROWTH_BYTES_MAX = 48 * 1024 * 1024;
/** BibTeX, of which 64 MiB may be read, is held: at most four times. */
const BIBTEX_MEGABYTES_MAX = 60;
const TIMEOUT_MS = 300_000;
/** V8 is not to keep what is no longer held, nor may it hold much more than it may grow by. */
const OPTIONS = ['--max-semi-space-size=2', '--max-old-space-size=64'];

const folder = mkdtempSync(join(tmpdir(), 'hookshelf-file-memory-'));
const CHILD = compile(join(import.meta.dirname, '../../support/read-big-file.ts'), folder);
after(() => rmSync(folder, { recursive: true }));

const TEXT = 'Words of a long review, and of many. '.repeat(30);
const GOODREADS = 'Book Id,Title,Author,Author l-f,Additional Authors,ISBN,ISBN13,Publisher,'
  + 'Year Published,Bookshelves,My Review\n';
const STORYGRAPH = 'Title,Authors,Contributors,ISBN/UID,Format,Read Status,Tags,Review\n';
const LIBRARYTHING = 'Book Id\tTitle\tPrimary Author\tPublication\tDate\tISBNs\tReview\n';
const CALIBRE = 'uuid,title,authors,author_sort,identifiers,pubdate,comments\n';
const BOOKWYRM = 'title,author_text,remote_id,shelf,shelf_name,review_content\n';
const OPENLIBRARY = 'Work ID,Title,Authors,Bookshelf,Subjects\n';
const JSON_LD = '{"@context":"https://schema.org","@graph":[';

/**
 * Before, in and after the file: the second is said again and again, `%N` is a number of its own.
 * Of a file that takes long a part is read.
 */
type FileParts = readonly [start: string, piece: string, end: string, portion?: number];

const FILES: Readonly<Record<string, readonly FileParts[]>> = {
  json: [
    ['[{"title":"', 'x', '"}]'],
    ['[', `{"title":"A %N","description":"${TEXT}"},`, '{"title":"z"}]'],
  ],
  jsonl: [['{"title":"', 'x', '"}\n'], ['', `{"title":"A %N","description":"${TEXT}"}\n`, '']],
  csv: [['title\n"', '""', '"\n'], ['title,description\n', `A %N,"${TEXT}"\n`, '']],
  jsonld: [
    [`${JSON_LD}{"@type":"Book","name":"`, 'x', '"}]}'],
    [`${JSON_LD}{"@type":"Book","name":"A","author":[`, '"P %N",', '"z"]}]}'],
    [JSON_LD, `{"@type":"Book","@id":"urn:%N","name":"A","description":"${TEXT}"},`,
      '{"name":"z"}]}'],
    [JSON_LD, '{"@type":"Book","name":"A","author":{"@id":"#%N"}},', '{"name":"z"}]}', 0.1],
    [JSON_LD, '{"@type":"Person","@id":"#%N","name":"A"},', '{"name":"z"}]}', 0.25],
  ],
  csl: [
    ['[{"type":"book","title":"', 'x', '"}]'],
    ['[', `{"id":"%N","type":"book","title":"A","abstract":"${TEXT}"},`, '{"type":"book"}]'],
    ['[', '{"id":"%N","type":"article-journal","title":"A"},', '{"type":"book"}]'],
  ],
  bibtex: [
    ['@book{a, title = {', 'x', '}}'],
    ['@book{a, title = {', '{', ''],
    ['@book{a, title = {', '\n@', '', 0.25],
    ['@book{a, title = {', '\n@a', '', 0.25],
    ['@book{a, title = {', '\n@book{a,', '', 0.25],
    ['@comment{', 'x', '}'],
    ['@string{a = "', 'x', '"}'],
    ['', '@string{a%N = "x%N"}\n', '', 0.25],
    ['', `@book{k%N, title = {A}, abstract = {${TEXT}}}\n`, ''],
    ['', '@inbook{k%N, crossref = {p%N}, title = {A}}\n', '', 0.25],
    ['', '@b{p%N}@b{%N,crossref=p%N}\n', '', 0.25],
  ],
  ris: [
    ['TY  - BOOK\nTI  - ', 'x', '\nER  - \n'],
    ['TY  - BOOK\nTI  - A\n', 'AU  - B %N, C\n', 'ER  - \n'],
    ['', `TY  - BOOK\nID  - %N\nTI  - A\nAB  - ${TEXT}\nER  - \n`, ''],
  ],
  goodreads: [
    [`${GOODREADS}1,"`, 'x', '"\n'],
    [GOODREADS, `%N,A (S. #1),B C,"C, B",,="",="",Ace,1969,to-read,"${TEXT}"\n`, ''],
  ],
  storygraph: [
    [`${STORYGRAPH}"`, 'x', '"\n'],
    [STORYGRAPH, `A,"B C, D E",,%N,digital,read,a,"${TEXT}"\n`, ''],
  ],
  librarything: [
    [`${LIBRARYTHING}1\t`, 'x', '\n'],
    [LIBRARYTHING, `%N\tA\tB, C\tAce (1969)\t1969\t\t${TEXT}\n`, ''],
    ['{"1":{"title":"', 'x', '"}}'],
    ['{', `"%N":{"books_id":"%N","title":"A","review":"${TEXT}"},`, '"z":{"title":"z"}}'],
  ],
  calibre: [
    [`${CALIBRE}1,"`, 'x', '"\n'],
    [CALIBRE, `%N,A,B C,"C, B",,2001-01-01T00:00:00+00:00,"<p>${TEXT}</p>"\n`, ''],
  ],
  bookwyrm: [
    [`${BOOKWYRM}"`, 'x', '"\n'],
    [BOOKWYRM, `A (S #1),"B C, D E",https://b.test/%N,own-1,Own,"<p>${TEXT}</p>"\n`, ''],
  ],
  openlibrary: [
    [`${OPENLIBRARY}"`, 'x', '"\n'],
    [OPENLIBRARY, `OL%NW,A,B C | D E,Already Read,"${TEXT}"\n`, ''],
  ],
  isbn: [['', '9', ''], ['', '9780439023481\n', '', 0.25]],
};

test('each format has files here', () => {
  assert.deepEqual(Object.keys(FILES).sort(), FORMATS.map(({ name }) => name).sort());
});

for (const [format, files] of Object.entries(FILES)) {
  test(`a large ${format} file takes hardly more memory than a small one`, async () => {
    for (const [start, piece, end, portion = 1] of files) {
      const megabytes = Math.min(MEGABYTES * portion,
        format === 'bibtex' ? BIBTEX_MEGABYTES_MAX : Infinity);
      const bytesMax = format === 'bibtex'
        ? Math.max(GROWTH_BYTES_MAX, megabytes * 4_000_000) : GROWTH_BYTES_MAX;
      const words = [CHILD, format, start, piece, end, String(megabytes)];
      const { stdout } = await promisify(execFile)(
        process.execPath, [...OPTIONS, ...words], { timeout: TIMEOUT_MS });
      const { growthBytes } = JSON.parse(stdout) as { readonly growthBytes: number };
      assert.ok(growthBytes <= bytesMax,
        `${start}${piece.slice(0, 40)}: grew by ${growthBytes} bytes`);
    }
  });
}

/** As long as a record may be, of pieces that would take many times their bytes each. */
const RECORD_MEGABYTES = 1.9;
/** What `--max-memory 64` leaves, less what a server has in it. */
const SMALL_HEAP = ['--max-semi-space-size=1', '--max-old-space-size=26'];
const DENSE_RECORDS: readonly (readonly [format: FormatName, ...FileParts])[] = [
  ['csv', 'title,authors\nA,"', 'a;', '"\n'],
  ['csv', 'title,metadata\nA,"{', '\n', '}"\n'],
  ['goodreads', `${GOODREADS}1,"`, 'a""', '"\n'],
  ['storygraph', `${STORYGRAPH}A,B,C,1,,,,"`, '""', '"\n'],
  ['csl', '[{"type":"book","title":"A","author":[{"literal":"', ' a', '"}]}]'],
  ['jsonld', `${JSON_LD}{"@type":"Book","name":"A","author":"`, 'a;', '"}]}'],
  ['jsonld', `${JSON_LD}{"@type":"Book","name":"A","author":[`, '{},', '{}]}]}'],
  ['librarything', '{"1":{"title":"A","tags":[', '[],', '[]]}}'],
];

for (const [format, start, piece, end] of DENSE_RECORDS) {
  test(`a ${format} record of many ${JSON.stringify(piece)} fits into a small heap`, async () => {
    const words = [CHILD, format, start, piece, end, String(RECORD_MEGABYTES)];
    const { stdout } = await promisify(execFile)(
      process.execPath, [...SMALL_HEAP, ...words], { timeout: TIMEOUT_MS });
    const { books, broken } = JSON.parse(stdout) as Readonly<Record<string, number>>;
    assert.deepEqual([books, broken].sort(), [0, 1]);
  });
}
