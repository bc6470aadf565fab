/**
 * The formats of books, as users name them, and as media types and file endings name them. All are
 * read.
 */
type FormatRow = {
  readonly name: string;
  /** The words for a file of the format, after "reading". */
  readonly title: string;
  /** The types that name it in `Accept` and `Content-Type`; the first is sent where none is. */
  readonly mediaTypes: readonly string[];
  /** The media types that are written, where they are not all. */
  readonly writtenTypes?: readonly string[];
  /** The endings of its file names; the first is written. */
  readonly endings: readonly string[];
  /** The endings that name a file to write, where they are not all. */
  readonly writtenEndings?: readonly string[];
  readonly isWritten: boolean;
  /** Whether its years are those of works, and not of the editions that one has; absent: not. */
  readonly hasWorkYears?: boolean;
};

const CSV = ['text/csv', 'text/tab-separated-values'];

const TABLE = [
  {
    name: 'json', title: 'JSON', mediaTypes: ['application/json'], endings: ['.json'],
    isWritten: true,
  },
  {
    name: 'jsonl', title: 'JSON Lines',
    mediaTypes: ['application/jsonl', 'application/x-ndjson', 'application/json-lines'],
    endings: ['.jsonl', '.ndjson'], isWritten: true,
  },
  {
    name: 'csv', title: 'CSV', mediaTypes: CSV, writtenTypes: ['text/csv'],
    endings: ['.csv', '.tsv'], writtenEndings: ['.csv'], isWritten: true,
  },
  {
    name: 'jsonld', title: 'JSON-LD', mediaTypes: ['application/ld+json'], endings: ['.jsonld'],
    isWritten: true,
  },
  {
    name: 'csl', title: 'CSL-JSON', mediaTypes: ['application/vnd.citationstyles.csl+json'],
    endings: ['.csl.json'], isWritten: true,
  },
  {
    name: 'bibtex', title: 'BibTeX', mediaTypes: ['application/x-bibtex', 'text/x-bibtex'],
    endings: ['.bib'], isWritten: true,
  },
  {
    name: 'ris', title: 'RIS', mediaTypes: ['application/x-research-info-systems'],
    endings: ['.ris'], isWritten: true,
  },
  {
    name: 'goodreads', title: 'a Goodreads export', mediaTypes: CSV, endings: ['.csv'],
    isWritten: false,
  },
  {
    name: 'storygraph', title: 'a StoryGraph export', mediaTypes: CSV, endings: ['.csv'],
    isWritten: false,
  },
  {
    name: 'librarything', title: 'a LibraryThing export',
    mediaTypes: ['text/tab-separated-values', 'application/json'], endings: ['.tsv', '.json'],
    isWritten: false,
  },
  {
    name: 'calibre', title: 'a Calibre catalog', mediaTypes: CSV, endings: ['.csv'],
    isWritten: false,
  },
  {
    name: 'bookwyrm', title: 'a BookWyrm export', mediaTypes: CSV, endings: ['.csv'],
    isWritten: false,
  },
  {
    name: 'openlibrary', title: 'an Open Library reading log', mediaTypes: CSV,
    endings: ['.csv'], isWritten: false, hasWorkYears: true,
  },
  {
    name: 'isbn', title: 'a list of ISBNs', mediaTypes: ['text/plain'], endings: ['.txt'],
    isWritten: false,
  },
] as const satisfies readonly FormatRow[];

export type FormatName = (typeof TABLE)[number]['name'];

export type Format = Required<FormatRow> & { readonly name: FormatName };

export const FORMATS: readonly Format[] = TABLE.map((row) =>
  ({ writtenTypes: row.mediaTypes, writtenEndings: row.endings, hasWorkYears: false, ...row }));

export const WORK_YEAR_FORMATS: readonly string[] =
  FORMATS.filter(({ hasWorkYears }) => hasWorkYears).map(({ name }) => name);

/** The words for a file of the format; the name itself for a name that no format has. */
export function findFormatTitle(name: string): string {
  return FORMATS.find((format) => format.name === name)?.title ?? name;
}

export const WRITTEN_FORMATS: readonly Format[] = FORMATS.filter(({ isWritten }) => isWritten);

export const JSON_LINES_TYPES: readonly string[] =
  FORMATS.find(({ name }) => name === 'jsonl')?.mediaTypes ?? [];

/** The media types of all other files. */
export const FILE_TYPES: readonly string[] =
  [...new Set(FORMATS.flatMap(({ mediaTypes }) => mediaTypes))]
    .filter((mediaType) => !JSON_LINES_TYPES.includes(mediaType));
