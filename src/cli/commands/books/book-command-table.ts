/** The rows of the commands `book:*`. */
import { CHARSETS } from '../../../base/text/charset.ts';
import { flag, recordOption } from '../../arguments/option-spec.ts';
import { FORMATS, WRITTEN_FORMATS } from '../../../books/transfer/format-list.ts';
import { MATCHES, ON_MATCH } from '../../../books/transfer/import-mode.ts';
import type { OptionSpec } from '../../arguments/option-spec.ts';
import type { CommandSpec } from '../command-context.ts';
import { lazyCall } from '../lazy-commands.ts';
import {
  bookExportOptions, bookListOptions, bookMergeOptions, duplicatesOptions, facetOptions,
  statisticsOptions,
} from '../route-options.ts';

const book = recordOption('books');
const bookInput: OptionSpec = {
  type: 'string', placeholder: '<json | @file | ->', isRequired: true,
  meaning: 'the book as JSON: in place, from a file, or from standard input',
};
const format: OptionSpec = {
  type: 'string', placeholder: '<format>', values: WRITTEN_FORMATS.map(({ name }) => name),
  meaning: 'format of the file; its name says it otherwise',
};

const loadBook = () => import('./book-commands.ts');
const loadAggregates = () => import('./aggregate-commands.ts');
const loadTransfer = () => import('./import-export.ts');

export const BOOK_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'book:list', summary: 'List books, or search them',
    options: bookListOptions,
    examples: [
      'hookshelf book:list --q "le guin" --limit 10', 'hookshelf book:list --sort title',
      'hookshelf book:list --keyword crime --keyword poetry --sort=author,-title',
      'hookshelf book:list --author tolstoi --typos off',
      'hookshelf book:list --status read --rating-from 4 --finished-to 2024 --sort=-rating',
      'hookshelf book:list --has-isbn false --fields title,publisher',
      'hookshelf book:list --q war --sort title --explain',
    ],
    load: async () => (await loadBook()).listBooks,
  },
  {
    name: 'book:facets',
    summary: 'Count books by author, keyword, status, rating, shelf and so on',
    details: [
      'Shows the 20 most frequent values of each. A facet ignores its own filter: with --author',
      'the authors counted are those of all books that the other filters let through.',
    ],
    options: facetOptions,
    examples: ['hookshelf book:facets', 'hookshelf book:facets --by decade,bookFormat --q war'],
    load: async () => (await loadAggregates()).showFacets,
  },
  {
    name: 'book:statistics',
    summary: 'Count the books that are read by year, month, status, rating, language or decade',
    details: ['Years and months are those of the last reading. By status all books are counted.'],
    options: statisticsOptions,
    examples: [
      'hookshelf book:statistics --by year', 'hookshelf book:statistics --by rating --shelf own',
    ],
    load: async () => (await loadAggregates()).showStatistics,
  },
  {
    name: 'book:duplicates',
    summary: 'List books that have the same ISBN, or the same title and first author',
    details: [
      'Books of different editions (`bookEdition`) are no duplicates, nor, by title, those that '
      + 'differ in what stands behind `: `.',
    ],
    options: duplicatesOptions,
    examples: ['hookshelf book:duplicates --by isbn', 'hookshelf book:duplicates --by title'],
    load: async () => (await loadAggregates()).listDuplicates,
  },
  {
    name: 'book:show', summary: 'Show one book', options: book,
    examples: [
      'hookshelf book:show 01980000-0000-7000-8000-000000000001', 'hookshelf book:show 8c21f0',
    ],
    load: lazyCall({ method: 'GET', path: '/api/books/{id}' }),
  },
  {
    name: 'book:add', makesData: true,
    summary: 'Add a book', options: { input: bookInput },
    examples: [
      `hookshelf book:add --input '{"title":"Emma","authors":[{"name":"Jane Austen"}]}'`,
      'hookshelf book:add --input @emma.json', 'hookshelf book:add --input - < emma.json',
    ],
    load: async () => (await loadBook()).addBook,
  },
  {
    name: 'book:update', summary: 'Change members of a book (JSON Merge Patch)',
    details: ['A member that is null is removed; members that are absent stay as they are.'],
    options: {
      ...book,
      input: { ...bookInput, meaning: 'the members to change, as JSON' },
    },
    examples: [
      `hookshelf book:update <id> --input '{"numberOfPages":474,"subtitle":null}'`,
    ],
    load: async () => (await loadBook()).updateBook,
  },
  {
    name: 'book:delete', summary: 'Delete a book', options: book,
    examples: ['hookshelf book:delete <id>'],
    load: lazyCall({
      method: 'DELETE', path: '/api/books/{id}', done: 'deleted book {id}',
      result: { deleted: true },
    }),
  },
  {
    name: 'book:restore',
    summary: 'Put a book back that was deleted, or merged into another, in the last minute',
    details: [
      'The book that it was merged into becomes as it was before, unless it has changed. The',
      'server holds what was deleted; without one there is nothing to put back.',
    ],
    options: book,
    examples: ['hookshelf book:restore <id>'],
    load: lazyCall({
      method: 'POST', path: '/api/books/{id}/restore', done: 'book {id} is back',
    }),
  },
  {
    name: 'book:merge', summary: 'Merge a book into another, and delete it',
    details: [
      'All members of the book stay but those that are named; --fill names those that it lacks',
      'and the other has, and unites lists and metadata of both; where the other book alone is',
      'read, status and dates are of that. What either book has otherwise stays in the metadata',
      'then, as far as they have room; the command says what, and what is lost. Imports leave',
      'records with the id of the deleted book alone from then on, and those with an own id of its',
      'sources, unless --fill has made the source one of the book.',
    ],
    options: {
      ...book, ...bookMergeOptions,
      fill: flag('take what the book lacks, unite lists and metadata, keep what is otherwise'),
    },
    examples: [
      'hookshelf book:merge <id> --from <id> --fill',
      'hookshelf book:merge <id> --from <id> --members title,reading.rating',
    ],
    load: async () => (await import('./merge-book.ts')).mergeBook,
  },
  {
    name: 'book:import', makesData: true,
    summary: 'Import books from a file',
    details: [
      'Takes the exports of other programs too; the name of the file and its beginning tell which.',
      'Ids and dates of our own formats are kept; books whose id exists are skipped. Records that',
      'have an id of their source are matched by it: the same file again changes nothing, and a',
      'later one updates what has changed in it, and nothing else that was edited here. What the',
      'catalog has no place for goes to metadata.source. A bad record is reported with its line,',
      'and the rest goes on. Exit code 1 when any was skipped. Nothing undoes an import: the way',
      'back is data:backup before it, and data:restore --replace after it.',
    ],
    options: {
      file: {
        type: 'string', placeholder: '<path | ->', isOperand: true, completes: 'file',
        meaning: 'file to read, - for standard input',
      },
      sample: flag('import the sample catalog of the program instead'),
      'from-metadata': flag('read metadata.source of all books again, and set what they lack'),
      format: {
        type: 'string', placeholder: '<format>', values: FORMATS.map(({ name }) => name),
        meaning: 'format of the file; its name and its beginning say it otherwise',
      },
      column: {
        type: 'string', placeholder: '<name>=<member>', isRepeatable: true,
        meaning: 'what a column of a csv holds, where its name does not say it: a member of a '
          + 'book, metadata.<name> for a column of your own, or none, which leaves it out',
      },
      charset: {
        type: 'string', placeholder: '<name>', suggests: CHARSETS,
        meaning: 'encoding of the file where it has no byte order mark, such as windows-1250; its '
          + 'bytes tell UTF-8 from Windows-1252',
      },
      match: {
        type: 'string', placeholder: '<by>', suggests: MATCHES,
        meaning: 'update books with the same isbn, the same title, author and year (title), or the '
          + 'same id of their source (source); several by commas, the first that finds one counts',
      },
      'on-match': {
        type: 'string', placeholder: '<how>', values: ON_MATCH,
        meaning: 'what becomes of a book that matches, or, where it is named, whose id '
          + 'exists: skip, update (default), fill (what it lacks, keywords and shelves of both) or '
          + 'replace',
      },
      replace: flag('replace books that match, or whose id exists'),
      'all-types': flag('take articles and other types of records for books too'),
      'dry-run': flag('check every record and change nothing'),
      verbose: flag('name each new or changed book, and what changes in it'),
    },
    oneOf: [['file', 'sample', 'from-metadata']],
    examples: [
      'hookshelf book:import --sample',
      'hookshelf book:import --file data/samples/books.json',
      'hookshelf book:import --file books.csv --dry-run --verbose',
      'hookshelf book:import --file goodreads_library_export.csv --match isbn',
      'hookshelf book:import --file own.csv --column "Written by=authors" --column Price=none',
      'zcat books.jsonl.gz | hookshelf book:import --file - --format jsonl',
      'hookshelf book:import --from-metadata --dry-run --verbose',
    ],
    load: async () => (await loadTransfer()).importBooks,
  },
  {
    name: 'book:export', summary: 'Export all books, or those of a search',
    options: {
      ...bookExportOptions,
      file: {
        type: 'string', placeholder: '<path | ->', completes: 'file',
        meaning: 'file to write (standard output)',
      },
      format,
      spreadsheet: flag("csv for a spreadsheet: as UTF-8, formulas and ISBNs as texts"),
    },
    details: [
      'All formats but json, jsonl and csv leave out dates, ids of merged books, and metadata',
      'that is not theirs; jsonld also what a reading has besides review and rating. How many',
      'books lack something is said at the end.',
    ],
    examples: [
      'hookshelf book:export --file books.csv', 'hookshelf book:export --keyword crime',
      'hookshelf book:export --file books.csv --spreadsheet',
      'hookshelf book:export --status read --rating-from 4 --sort=-rating --format csv',
      'hookshelf book:export --format jsonld', 'hookshelf book:export | jq length',
    ],
    load: async () => (await loadTransfer()).exportBooks,
  },
];
