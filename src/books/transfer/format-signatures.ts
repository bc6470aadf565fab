/**
 * By what a file is known whose ending or media type several formats share. A person adds a source
 * by a row: the headings that its files have are enough.
 */
import { bookSchema } from '../book.ts';
import type { FormatName } from './format-list.ts';

export type FormatSignature = {
  readonly format: FormatName;
  /** The names of the columns, or of the members of each record. */
  readonly names?: readonly string[];
  /** The beginning of other names of the format, such as a person's own columns. */
  readonly namePrefix?: string;
  /** A name that no file of the format lacks. */
  readonly requiredName?: string;
  /** How much a telling name counts, where they are no ordinary words; absent: 1. */
  readonly nameScore?: number;
  /** Matches a text of the format at its beginning, or at that of a line. */
  readonly beginning?: RegExp;
};

/** Formats that share endings and media types. */
export type Family = {
  readonly endings: readonly string[];
  readonly mediaTypes: readonly string[];
  readonly layout: 'columns' | 'members' | 'text';
  /** The first is the format of a file that could be none: it says what is wrong with it. */
  readonly signatures: readonly [FormatSignature, ...FormatSignature[]];
};

const OWN_NAMES = Object.keys(bookSchema.members);

const COLUMN_SIGNATURES: Family['signatures'] = [
  // `Author` stands in most tables that people make by hand: our csv says what it wants instead.
  { format: 'csv', names: [...OWN_NAMES, 'author'], nameScore: 2 },
  {
    format: 'goodreads',
    names: [
      'Book Id', 'Title', 'Author', 'Author l-f', 'Additional Authors', 'ISBN', 'ISBN13',
      'My Rating', 'Average Rating', 'Publisher', 'Binding', 'Number of Pages', 'Year Published',
      'Original Publication Year', 'Date Read', 'Date Added', 'Bookshelves',
      'Bookshelves with positions', 'Exclusive Shelf', 'My Review', 'Spoiler', 'Private Notes',
      'Read Count', 'Recommended For', 'Recommended By', 'Owned Copies', 'Original Purchase Date',
      'Original Purchase Location', 'Condition', 'Condition Description', 'BCID',
    ],
  },
  {
    format: 'storygraph',
    names: [
      'Title', 'Authors', 'Contributors', 'ISBN/UID', 'Format', 'Read Status', 'Date Added',
      'Last Date Read', 'Dates Read', 'Read Count', 'Moods', 'Pace', 'Character- or Plot-Driven?',
      'Strong Character Development?', 'Loveable Characters?', 'Diverse Characters?',
      'Flawed Characters?', 'Star Rating', 'Review', 'Content Warnings',
      'Content Warning Description', 'Tags', 'Owned?',
    ],
  },
  {
    format: 'librarything',
    names: [
      'Book Id', 'Title', 'Sort Character', 'Primary Author', 'Primary Author Role',
      'Secondary Author', 'Secondary Author Roles', 'Publication', 'Date', 'Review', 'Rating',
      'Comment', 'Private Comment', 'Summary', 'Media', 'Physical Description', 'Weight', 'Height',
      'Thickness', 'Length', 'Dimensions', 'Page Count', 'LCCN', 'Acquired', 'Date Started',
      'Date Read', 'Barcode', 'BCID', 'Tags', 'Collections', 'Languages', 'Original Languages',
      'LC Classification', 'ISBN', 'ISBNs', 'Subjects', 'Dewey Decimal', 'Dewey Wording',
      'Other Call Number', 'Copies', 'Source', 'Entry Date', 'From Where', 'OCLC', 'Work id',
      'Lending Patron', 'Lending Status', 'Lending Start', 'Lending End', 'List Price',
      'Purchase Price', 'Value', 'Condition', 'ISSN',
    ],
  },
  {
    format: 'calibre', namePrefix: '#',
    names: [
      'author_sort', 'authors', 'comments', 'cover', 'formats', 'id', 'identifiers', 'isbn',
      'languages', 'library_name', 'ondevice', 'pubdate', 'publisher', 'rating', 'series',
      'series_index', 'size', 'tags', 'timestamp', 'title', 'title_sort', 'uuid',
    ],
  },
  {
    format: 'bookwyrm',
    names: [
      'title', 'author_text', 'remote_id', 'openlibrary_key', 'finna_key', 'libris_key',
      'inventaire_id', 'librarything_key', 'goodreads_key', 'bnf_id', 'viaf', 'wikidata', 'asin',
      'aasin', 'isfdb', 'isbn_10', 'isbn_13', 'oclc_number', 'pages', 'start_date', 'finish_date',
      'stopped_date', 'rating', 'review_name', 'review_cw', 'review_content', 'review_published',
      'shelf', 'shelf_name', 'shelf_date',
    ],
  },
  {
    format: 'openlibrary',
    names: [
      'Work ID', 'Work Id', 'Title', 'Authors', 'First Publish Year', 'Edition ID', 'Edition Id',
      'Edition Count', 'Bookshelf', 'My Ratings', 'Ratings Average', 'Ratings Count', 'Has Ebook',
      'Subjects', 'Subject People', 'Subject Places', 'Subject Times',
    ],
  },
];

const MEMBER_SIGNATURES: Family['signatures'] = [
  { format: 'json', names: OWN_NAMES, nameScore: 2 },
  {
    format: 'csl', requiredName: 'type',
    names: [
      'id', 'type', 'title', 'title-short', 'author', 'editor', 'translator', 'issued', 'accessed',
      'publisher', 'publisher-place', 'container-title', 'collection-title', 'collection-number',
      'number-of-pages', 'page', 'edition', 'volume', 'language', 'abstract', 'note', 'keyword',
      'source', 'genre', 'medium', 'original-date', 'event-place', 'call-number', 'archive',
      'citation-key', 'citation-label', 'custom', 'DOI', 'ISBN', 'ISSN', 'URL', 'PMID',
    ],
  },
  // Its other names are schema.org's, as are most of ours.
  { format: 'jsonld', names: ['@context', '@graph', '@type', '@id'], nameScore: 100 },
  // One object by id: the names are those of the records within it.
  {
    format: 'librarything',
    names: [
      'books_id', 'title', 'sortcharacter', 'public', 'primaryauthor', 'primaryauthorrole',
      'secondaryauthor', 'secondaryauthorroles', 'authors', 'publication', 'date', 'review',
      'rating', 'comment', 'privatecomment', 'summary', 'format', 'pages', 'weight', 'height',
      'thickness', 'length', 'dimensions', 'tags', 'collections', 'language', 'language_codeA',
      'originallanguage', 'originallanguage_codeA', 'originalisbn', 'isbn', 'ean', 'asin', 'lcc',
      'ddc', 'subject', 'series', 'genre', 'awards', 'workcode', 'source', 'entrydate',
      'dateacquired', 'datestarted', 'dateread', 'fromwhere', 'copies', 'volumes', 'barcode',
      'callnumber', 'lccn', 'oclc',
    ],
    nameScore: 2,
  },
];

const TEXT_SIGNATURES: Family['signatures'] = [
  // An ISBN may stand in any text: only the first line tells of a list of them.
  {
    format: 'isbn',
    beginning: /^\s*(?:isbn[-: \t\d]*)?\d[-– \t\d]{8,16}[\dx][ \t]*(?:[\r\n]|$)/i,
  },
  { format: 'ris', beginning: /^TY {0,2}-[ \t]*[A-Z]+[ \t]*$/m },
  { format: 'bibtex', beginning: /^[ \t]*@[a-z]+\s*[{(]/im },
];

export const FAMILIES: readonly Family[] = [
  {
    endings: ['.csv', '.tsv'], mediaTypes: ['text/csv', 'text/tab-separated-values'],
    layout: 'columns', signatures: COLUMN_SIGNATURES,
  },
  {
    endings: ['.json'], mediaTypes: ['application/json'],
    layout: 'members', signatures: MEMBER_SIGNATURES,
  },
  {
    endings: ['.txt'], mediaTypes: ['text/plain'],
    layout: 'text', signatures: TEXT_SIGNATURES,
  },
];
