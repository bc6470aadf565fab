/**
 * Twenty books of each program that keeps what a book is to its reader, under the headings that its
 * exports have, and what an import makes of them.
 */
import type { JsonObject, JsonValue } from '../../../../src/base/schema.ts';
import type { FormatName } from '../../../../src/books/transfer/format-list.ts';

/** The texts of a book's record, by the headings of its program. */
type ReadingCase = {
  readonly fields: JsonObject;
  /** The series of the book and what it is to its reader; absent where there is none. */
  readonly series?: JsonValue;
  readonly reading?: JsonObject;
  /** The fields that stay in `metadata.source` beside those that always do. */
  readonly kept?: readonly string[];
};

export type ReadingExport = {
  readonly format: FormatName;
  /** The headings, in the order of the program's files. */
  readonly headings: readonly string[];
  readonly separator: ',' | '\t' | 'json';
  /** The fields of the own id, the title and what else each record of a test has. */
  readonly base: (number: number) => JsonObject;
  /** Those of them that always stay in `metadata.source`. */
  readonly baseKept: readonly string[];
  readonly cases: readonly ReadingCase[];
};

const REVIEW = 'Slow at first.<br/><br/>Then &quot;I could not stop&quot; &amp; wept.';
const REVIEW_TEXT = 'Slow at first.\n\nThen "I could not stop" & wept.';
const MARKED_REVIEW = 'I <b>loved</b> it,<br/>see <a href="https://a.test/?x&amp;y">here</a>';
const MARKED_REVIEW_TEXT = 'I loved it,\nsee here';
const LINES = 'One line,\nanother,\n\nand a last one: 1 < 2, AT&T.';
const PARAGRAPHS = '<p>First &mdash; caf&eacute;.</p>\n<p>Second</p>';
const PARAGRAPHS_TEXT = 'First — café.\n\nSecond';
const LONG_REVIEW = 'Well, '.repeat(5000).trim();

const goodreads: ReadingExport = {
  format: 'goodreads', separator: ',',
  headings: ['Book Id', 'Title', 'Author', 'Author l-f', 'Additional Authors', 'ISBN', 'ISBN13',
    'My Rating', 'Average Rating', 'Publisher', 'Binding', 'Number of Pages', 'Year Published',
    'Original Publication Year', 'Date Read', 'Date Added', 'Bookshelves',
    'Bookshelves with positions', 'Exclusive Shelf', 'My Review', 'Spoiler', 'Private Notes',
    'Read Count', 'Owned Copies'],
  base: (number) => ({
    'Book Id': `${1000 + number}`, 'Title': `Book ${number}`, 'Author': 'Ada Byron',
    'ISBN': '=""', 'ISBN13': '=""', 'My Rating': '0', 'Date Added': '2023/01/02',
    'Exclusive Shelf': 'to-read', 'Bookshelves': 'to-read', 'Read Count': '0', 'Owned Copies': '0',
  }),
  baseKept: ['Book Id', 'Date Added'],
  cases: [
    { fields: {}, reading: { status: 'to-read' } },
    { fields: { 'Exclusive Shelf': 'read', 'Bookshelves': '', 'My Rating': '5', 'Read Count': '1',
      'Date Read': '2023/01/05' },
    reading: { status: 'read', rating: 5, finishedOn: '2023-01-05', readCount: 1 } },
    { fields: { 'Exclusive Shelf': 'read', 'Bookshelves': 'read', 'Read Count': '3' },
      reading: { status: 'read', readCount: 3 } },
    { fields: { 'Exclusive Shelf': 'currently-reading',
      'Bookshelves': 'currently-reading, sci-fi, book club', 'Owned Copies': '1' },
    reading: { status: 'reading', shelves: ['sci-fi', 'book club'], owned: true } },
    { fields: { 'Exclusive Shelf': 'did-not-finish', 'Bookshelves': 'did-not-finish',
      'My Rating': '2', 'Read Count': '1' },
    reading: { status: 'abandoned', rating: 2, readCount: 1 } },
    // Exclusive shelves of the reader's own.
    { fields: { 'Exclusive Shelf': 'dnf', 'Bookshelves': 'dnf, owned' },
      reading: { shelves: ['dnf', 'owned'] } },
    { fields: { 'Exclusive Shelf': 'paused', 'Bookshelves': 'sci-fi' },
      reading: { shelves: ['sci-fi', 'paused'] } },
    { fields: { 'Exclusive Shelf': 'abandoned', 'Bookshelves': '' },
      reading: { shelves: ['abandoned'] } },
    // A status among the shelves that is not the book's.
    { fields: { 'Exclusive Shelf': 'read', 'Bookshelves': 'to-read, ya', 'Read Count': '1' },
      reading: { status: 'read', readCount: 1, shelves: ['ya'] }, kept: ['Bookshelves'] },
    { fields: { 'Bookshelves': 'Sci-Fi, to-read, sci-fi, Poems' },
      reading: { status: 'to-read', shelves: ['Sci-Fi', 'Poems'] }, kept: ['Bookshelves'] },
    { fields: { 'Bookshelves with positions': 'to-read (#7)' }, reading: { status: 'to-read' },
      kept: ['Bookshelves with positions'] },
    { fields: { 'My Review': REVIEW }, reading: { status: 'to-read', review: REVIEW_TEXT } },
    { fields: { 'My Review': MARKED_REVIEW },
      reading: { status: 'to-read', review: MARKED_REVIEW_TEXT }, kept: ['My Review'] },
    { fields: { 'My Review': LINES, 'Spoiler': 'true', 'Private Notes': 'mine' },
      reading: { status: 'to-read', review: LINES }, kept: ['Spoiler', 'Private Notes'] },
    { fields: { 'My Review': LONG_REVIEW }, reading: { status: 'to-read', review: LONG_REVIEW } },
    { fields: { 'Title': 'Mort (Discworld, #4; Death #1)' }, reading: { status: 'to-read' },
      series: [{ name: 'Discworld', position: 4 }, { name: 'Death', position: 1 }],
      kept: ['Title'] },
    { fields: { 'Title': 'Clariel (Abhorsen #0.5)' }, reading: { status: 'to-read' },
      series: [{ name: 'Abhorsen', position: 0.5 }], kept: ['Title'] },
    { fields: { 'Title': 'Mistborn Trilogy (Mistborn, #1-3)' }, reading: { status: 'to-read' },
      series: [{ name: 'Mistborn' }], kept: ['Title'] },
    // What the model refuses stays, and so do more copies than one.
    { fields: { 'My Rating': '7', 'Read Count': '10001', 'Owned Copies': '3' },
      reading: { status: 'to-read', owned: true },
      kept: ['My Rating', 'Read Count', 'Owned Copies'] },
    { fields: { 'Date Read': '2023/13/45', 'Exclusive Shelf': 'read', 'Bookshelves': '' },
      reading: { status: 'read', finishedOn: '2023' }, kept: ['Date Read'] },
  ],
};

const storygraph: ReadingExport = {
  format: 'storygraph', separator: ',',
  headings: ['Title', 'Authors', 'Contributors', 'ISBN/UID', 'Format', 'Read Status', 'Date Added',
    'Last Date Read', 'Dates Read', 'Read Count', 'Moods', 'Pace', 'Character- or Plot-Driven?',
    'Strong Character Development?', 'Loveable Characters?', 'Diverse Characters?',
    'Flawed Characters?', 'Star Rating', 'Review', 'Content Warnings',
    'Content Warning Description', 'Tags', 'Owned?'],
  base: (number) => ({
    'Title': `Book ${number}`, 'Authors': 'Ada Byron', 'ISBN/UID': `B07D23C${100 + number}`,
    'Read Status': 'read', 'Date Added': '2021/05/10', 'Read Count': '0', 'Owned?': 'No',
  }),
  baseKept: ['ISBN/UID', 'Date Added'],
  cases: [
    { fields: {}, reading: { status: 'read' } },
    { fields: { 'Read Status': 'to-read' }, reading: { status: 'to-read' } },
    { fields: { 'Read Status': 'currently-reading', 'Owned?': 'Yes' },
      reading: { status: 'reading', owned: true } },
    { fields: { 'Read Status': 'paused' }, reading: { status: 'paused' } },
    { fields: { 'Read Status': 'did-not-finish', 'Star Rating': '0.25' },
      reading: { status: 'abandoned', rating: 0.25 } },
    { fields: { 'Read Status': 'on-loan' }, kept: ['Read Status'] },
    { fields: { 'Read Status': '', 'Review': '<div><br></div>' } },
    { fields: { 'Star Rating': '4.5', 'Read Count': '1' },
      reading: { status: 'read', rating: 4.5, readCount: 1 } },
    { fields: { 'Star Rating': '3.75' }, reading: { status: 'read', rating: 3.75 } },
    { fields: { 'Star Rating': '4.3' }, reading: { status: 'read' }, kept: ['Star Rating'] },
    { fields: { 'Dates Read': '2021/05/20-2021/06/01', 'Last Date Read': '2021/06/01' },
      reading: { status: 'read', startedOn: '2021-05-20', finishedOn: '2021-06-01' } },
    { fields: { 'Dates Read': '2021/05/20-2021/06/01, 2023/02/03', 'Last Date Read': '2023/02/03',
      'Read Count': '2' },
    reading: { status: 'read', finishedOn: '2023-02-03', readCount: 2 }, kept: ['Dates Read'] },
    { fields: { 'Dates Read': '2022/10/29-2022/11/28, 2021/09/14', 'Read Count': '2' },
      reading: {
        status: 'read', startedOn: '2022-10-29', finishedOn: '2022-11-28', readCount: 2,
      }, kept: ['Dates Read'] },
    { fields: { 'Dates Read': '2023/02/03', 'Last Date Read': '2023/02/03' },
      reading: { status: 'read', finishedOn: '2023-02-03' } },
    { fields: { 'Last Date Read': '2024/02' }, reading: { status: 'read', finishedOn: '2024-02' } },
    { fields: { 'Dates Read': '2024/09-2024/10, 2023' },
      reading: { status: 'read', startedOn: '2024-09', finishedOn: '2024-10' },
      kept: ['Dates Read'] },
    { fields: { 'Dates Read': '2024/05/09-2024/05/01' },
      reading: { status: 'read', startedOn: '2024-05-09' }, kept: ['Dates Read'] },
    { fields: { 'Dates Read': '2023/02/03', 'Last Date Read': '2024/02/03' },
      reading: { status: 'read', finishedOn: '2023-02-03' }, kept: ['Last Date Read'] },
    { fields: { 'Review': `<div>${REVIEW}</div>`, 'Moods': 'sad' },
      reading: { status: 'read', review: REVIEW_TEXT }, kept: ['Moods'] },
    { fields: { 'Review': `<div>${MARKED_REVIEW}</div>` },
      reading: { status: 'read', review: MARKED_REVIEW_TEXT }, kept: ['Review'] },
  ],
};

const LIBRARYTHING_CASES: readonly ReadingCase[] = [
  { fields: {}, reading: { owned: true } },
  { fields: { Rating: '4.5' }, reading: { owned: true, rating: 4.5 } },
  { fields: { Rating: '0.5' }, reading: { owned: true, rating: 0.5 } },
  { fields: { Collections: 'Your library, To read' }, reading: { owned: true, status: 'to-read' } },
  { fields: { Collections: 'Currently reading, To read' }, reading: { status: 'reading' } },
  { fields: { Collections: 'To read, Read but unowned' },
    reading: { status: 'read', owned: false } },
  { fields: { Collections: 'Wishlist' }, reading: { shelves: ['Wishlist'] } },
  { fields: { Collections: 'Your library, Favorites, Poems, favorites' },
    reading: { owned: true, shelves: ['Favorites', 'Poems'] } },
  { fields: { Collections: '' } },
  { fields: { 'Collections': '', 'Date Read': '2019-04-02' },
    reading: { status: 'read', finishedOn: '2019-04-02' } },
  { fields: { 'Collections': 'To read', 'Date Read': '2019-04-02' },
    reading: { status: 'to-read', finishedOn: '2019-04-02' } },
  { fields: { 'Date Started': '2019-03-30', 'Date Read': '2019-04-02' },
    reading: { owned: true, status: 'read', startedOn: '2019-03-30', finishedOn: '2019-04-02' } },
  { fields: { 'Collections': 'Currently reading', 'Date Started': '2019-03' },
    reading: { status: 'reading', startedOn: '2019-03' } },
  { fields: { 'Collections': '', 'Date Started': '2019-03-30' },
    reading: { startedOn: '2019-03-30' } },
  { fields: { 'Date Started': '2019-05-01', 'Date Read': '2019-04-02' },
    reading: { owned: true, status: 'read', startedOn: '2019-05-01' }, kept: ['Date Read'] },
  { fields: { Rating: '3.3' }, reading: { owned: true }, kept: ['Rating'] },
  { fields: { Review: REVIEW }, reading: { owned: true, review: REVIEW_TEXT } },
  { fields: { Review: MARKED_REVIEW }, reading: { owned: true, review: MARKED_REVIEW_TEXT },
    kept: ['Review'] },
  { fields: { Review: LONG_REVIEW }, reading: { owned: true, review: LONG_REVIEW } },
  { fields: { Title: 'Le grand incendie (Fiction & Cie)', Comment: 'signed' },
    reading: { owned: true }, kept: ['Comment'] },
];

export const librarythingText: ReadingExport = {
  format: 'librarything', separator: '\t',
  headings: ['Book Id', 'Title', 'Sort Character', 'Primary Author', 'Primary Author Role',
    'Secondary Author', 'Secondary Author Roles', 'Publication', 'Date', 'Review', 'Rating',
    'Comment', 'Private Comment', 'Summary', 'Media', 'Physical Description', 'Weight', 'Height',
    'Thickness', 'Length', 'Dimensions', 'Page Count', 'LCCN', 'Acquired', 'Date Started',
    'Date Read', 'Barcode', 'BCID', 'Tags', 'Collections', 'Languages', 'Original Languages',
    'LC Classification', 'ISBN', 'ISBNs', 'Subjects', 'Dewey Decimal', 'Dewey Wording',
    'Other Call Number', 'Copies', 'Source', 'Entry Date', 'From Where', 'OCLC', 'Work id',
    'Lending Patron', 'Lending Status', 'Lending Start', 'Lending End'],
  base: (number) => ({
    'Book Id': `${5000 + number}`, 'Title': `Book ${number}`, 'Primary Author': 'Byron, Ada',
    'ISBN': '[]', 'Collections': 'Your library',
  }),
  baseKept: ['Book Id', 'Collections'],
  cases: LIBRARYTHING_CASES.map(({ fields, ...others }) =>
    ({ ...others, fields: mapFields(fields, bracketDate) })),
};

const librarythingJson: ReadingExport = {
  format: 'librarything', separator: 'json', headings: [],
  base: (number) => ({
    books_id: `${5000 + number}`, title: `Book ${number}`, primaryauthor: 'Byron, Ada',
    collections: ['Your library'],
  }),
  baseKept: ['books_id', 'collections'],
  cases: LIBRARYTHING_CASES.map(({ fields, kept = [], ...others }) => ({
    ...others, kept: kept.map(nameMember),
    fields: Object.fromEntries(Object.entries(fields).map(([name, value]) =>
      [nameMember(name), makeMember(name, String(value))])),
  })).concat({ fields: { review: PARAGRAPHS },
    reading: { owned: true, review: PARAGRAPHS_TEXT }, kept: [] }),
};

const calibre: ReadingExport = {
  format: 'calibre', separator: ',',
  headings: ['author_sort', 'authors', 'comments', 'cover', 'formats', 'identifiers', 'isbn',
    'languages', 'library_name', 'pubdate', 'publisher', 'rating', 'series', 'series_index',
    'size', 'tags', 'timestamp', 'title', 'title_sort', 'uuid', '#read'],
  base: (number) => ({
    authors: 'Ada Byron', title: `Book ${number}`, series_index: '1.0',
    uuid: `3051ed45-8943-4900-a22a-d2704e3583${10 + number}`,
  }),
  baseKept: ['uuid'],
  cases: [
    { fields: {} },
    ...(['5', '4.5', '0.5', '3.0'].map((rating) =>
      ({ fields: { rating }, reading: { rating: Number(rating) } }))),
    ...(['10', '9', '7', '6.0'].map((rating) =>
      ({ fields: { rating }, reading: { rating: Number(rating) / 2 } }))),
    { fields: { rating: '0' } }, { fields: { rating: '' } },
    { fields: { rating: '11' }, kept: ['rating'] },
    { fields: { rating: 'good' }, kept: ['rating'] },
    { fields: { series: 'InCryptid', series_index: '8.0' },
      series: [{ name: 'InCryptid', position: 8 }] },
    { fields: { series: 'Abhorsen', series_index: '0.5' },
      series: [{ name: 'Abhorsen', position: 0.5 }] },
    { fields: { series: 'A (B), C; D', series_index: '0' },
      series: [{ name: 'A (B), C; D', position: 0 }] },
    { fields: { series: 'Discworld', series_index: '' }, series: [{ name: 'Discworld' }] },
    { fields: { series: 'Discworld', series_index: '1.2345' }, series: [{ name: 'Discworld' }],
      kept: ['series', 'series_index'] },
    { fields: { series: 'Discworld', series_index: 'four' }, series: [{ name: 'Discworld' }],
      kept: ['series', 'series_index'] },
    { fields: { series: '', series_index: '4.0', '#read': 'Yes' },
      kept: ['series_index', '#read'] },
  ],
};

const BOOKWYRM_READ = { 'shelf': 'read', 'shelf_name': 'Read' };

const bookwyrm: ReadingExport = {
  format: 'bookwyrm', separator: ',',
  headings: ['title', 'author_text', 'remote_id', 'openlibrary_key', 'finna_key', 'libris_key',
    'inventaire_id', 'librarything_key', 'goodreads_key', 'bnf_id', 'viaf', 'wikidata', 'asin',
    'aasin', 'isfdb', 'isbn_10', 'isbn_13', 'oclc_number', 'pages', 'start_date', 'finish_date',
    'stopped_date', 'rating', 'review_name', 'review_cw', 'review_content', 'review_published',
    'shelf', 'shelf_name', 'shelf_date'],
  base: (number) => ({
    title: `Book ${number}`, author_text: 'Ada Byron', shelf_date: '2020-10-21',
    remote_id: `https://bookwyrm.test/book/${number}`, ...BOOKWYRM_READ,
  }),
  baseKept: ['remote_id', 'shelf_date'],
  cases: [
    { fields: {}, reading: { status: 'read' } },
    { fields: { shelf: 'to-read', shelf_name: 'To Read' }, reading: { status: 'to-read' } },
    { fields: { shelf: 'reading', shelf_name: 'Am Lesen' }, reading: { status: 'reading' } },
    { fields: { shelf: 'stopped-reading', shelf_name: 'Stopped Reading' },
      reading: { status: 'abandoned' } },
    { fields: { shelf: 'cooking-17', shelf_name: 'Cooking' }, reading: { shelves: ['Cooking'] },
      kept: ['shelf'] },
    { fields: { shelf: 'cooking-17', shelf_name: 'Cooking', finish_date: '2019-07-08' },
      reading: { status: 'read', finishedOn: '2019-07-08', shelves: ['Cooking'] },
      kept: ['shelf'] },
    { fields: { shelf: 'cooking-17', shelf_name: 'Cooking', stopped_date: '2019-07-08' },
      reading: { status: 'abandoned', shelves: ['Cooking'] }, kept: ['shelf', 'stopped_date'] },
    { fields: { shelf: '', shelf_name: '', start_date: '2019-07-01', finish_date: '2019-07-08' },
      reading: { status: 'read', startedOn: '2019-07-01', finishedOn: '2019-07-08' } },
    { fields: { start_date: '2020-10-21', finish_date: '2020-10-25', rating: '3' },
      reading: { status: 'read', startedOn: '2020-10-21', finishedOn: '2020-10-25', rating: 3 } },
    { fields: { start_date: '2020-10-21', finish_date: '2020-10-20' },
      reading: { status: 'read', startedOn: '2020-10-21' }, kept: ['finish_date'] },
    { fields: { rating: '4.50' }, reading: { status: 'read', rating: 4.5 } },
    { fields: { rating: '0' }, reading: { status: 'read' } },
    { fields: { rating: '4.1' }, reading: { status: 'read' }, kept: ['rating'] },
    { fields: { title: 'Gideon the Ninth (The Locked Tomb #1)' }, reading: { status: 'read' },
      series: [{ name: 'The Locked Tomb', position: 1 }], kept: ['title'] },
    { fields: { review_content: PARAGRAPHS, review_published: '2019-07-08' },
      reading: { status: 'read', review: PARAGRAPHS_TEXT }, kept: ['review_published'] },
    { fields: { review_content: LINES, review_name: 'Mixed' },
      reading: { status: 'read', review: LINES }, kept: ['review_name'] },
    { fields: { review_content: MARKED_REVIEW },
      reading: { status: 'read', review: MARKED_REVIEW_TEXT }, kept: ['review_content'] },
    { fields: { review_content: 'A *fine* [book](https://a.test)' },
      reading: { status: 'read', review: 'A *fine* [book](https://a.test)' } },
    { fields: { review_content: LONG_REVIEW },
      reading: { status: 'read', review: LONG_REVIEW } },
    { fields: { shelf: 'own-3', shelf_name: 'read', openlibrary_key: 'OL1M' },
      reading: { shelves: ['read'] }, kept: ['shelf', 'openlibrary_key'] },
  ],
};

const openlibrary: ReadingExport = {
  format: 'openlibrary', separator: ',',
  headings: ['Work ID', 'Title', 'Authors', 'First Publish Year', 'Edition ID', 'Edition Count',
    'Bookshelf', 'My Ratings', 'Ratings Average', 'Ratings Count', 'Has Ebook', 'Subjects',
    'Subject People', 'Subject Places', 'Subject Times'],
  base: (number) => ({
    'Work ID': `OL${100 + number}W`, 'Title': `Book ${number}`, 'Authors': 'Ada Byron | B C',
    'Edition Count': '12', 'Bookshelf': 'Already Read',
  }),
  baseKept: ['Work ID', 'Edition Count'],
  cases: [
    { fields: {}, reading: { status: 'read' } },
    { fields: { Bookshelf: 'Want to Read' }, reading: { status: 'to-read' } },
    { fields: { Bookshelf: 'Currently Reading' }, reading: { status: 'reading' } },
    { fields: { Bookshelf: 'Stopped Reading' }, kept: ['Bookshelf'] },
    { fields: { Bookshelf: '' } },
    ...['1', '2', '3', '4', '5', '4.5'].map((rating) =>
      ({ fields: { 'My Ratings': rating }, reading: { status: 'read', rating: Number(rating) } })),
    { fields: { 'My Ratings': '0' }, reading: { status: 'read' } },
    { fields: { 'My Ratings': '6' }, reading: { status: 'read' }, kept: ['My Ratings'] },
    { fields: { 'My Ratings': 'five' }, reading: { status: 'read' }, kept: ['My Ratings'] },
    ...['Ratings Average', 'Ratings Count', 'Has Ebook', 'Subjects', 'Edition ID', 'Subject Times']
      .map((name) => ({ fields: { [name]: 'x' }, reading: { status: 'read' }, kept: [name] })),
  ],
};

export const READING_EXPORTS: readonly ReadingExport[] =
  [goodreads, storygraph, librarythingText, librarythingJson, calibre, bookwyrm, openlibrary];

export function makeFile({ headings, separator, base, cases }: ReadingExport): string {
  const records = cases.map(({ fields }, number) => ({ ...base(number), ...fields }));
  if (separator === 'json') {
    return JSON.stringify(Object.fromEntries(records.map((record) =>
      [String(Reflect.get(record, 'books_id')), record])), null, 1);
  }
  const quote = (text: string): string =>
    separator === '\t' ? text : `"${text.replaceAll('"', '""')}"`;
  const rows = records.map((record) =>
    headings.map((name) => quote(String(record[name] ?? ''))).join(separator));
  return `${headings.join(separator)}\n${rows.join('\n')}\n`;
}

function mapFields(fields: JsonObject, map: (name: string, value: string) => string): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) =>
    [name, map(name, String(value))]));
}

function bracketDate(name: string, value: string): string {
  return name.startsWith('Date ') ? `[${value}]` : value;
}

/** The member of the JSON export for a heading of the text export. */
function nameMember(heading: string): string {
  return heading.toLowerCase().replace(' ', '');
}

function makeMember(heading: string, text: string): JsonValue {
  if (heading === 'Rating') return Number(text);
  return heading === 'Collections' ? text.split(', ').filter((name) => name !== '') : text;
}
