/** The formats of books, as users name them, and as media types and file endings name them. */
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
  readonly isRead: boolean;
  readonly isWritten: boolean;
};

const CSV = ['text/csv', 'text/tab-separated-values'];

const TABLE = [
  {
    name: 'json', title: 'JSON', mediaTypes: ['application/json'], endings: ['.json'],
    isRead: true, isWritten: true,
  },
  {
    name: 'jsonl', title: 'JSON Lines',
    mediaTypes: ['application/jsonl', 'application/x-ndjson', 'application/json-lines'],
    endings: ['.jsonl', '.ndjson'], isRead: true, isWritten: true,
  },
  {
    name: 'csv', title: 'CSV', mediaTypes: CSV, writtenTypes: ['text/csv'],
    endings: ['.csv', '.tsv'], writtenEndings: ['.csv'],
    isRead: true, isWritten: true,
  },
  {
    name: 'jsonld', title: 'JSON-LD', mediaTypes: ['application/ld+json'], endings: ['.jsonld'],
    isRead: true, isWritten: true,
  },
  {
    name: 'csl', title: 'CSL-JSON', mediaTypes: ['application/vnd.citationstyles.csl+json'],
    endings: ['.csl.json'], isRead: true, isWritten: true,
  },
  {
    name: 'bibtex', title: 'BibTeX', mediaTypes: ['application/x-bibtex', 'text/x-bibtex'],
    endings: ['.bib'], isRead: true, isWritten: true,
  },
  {
    name: 'ris', title: 'RIS', mediaTypes: ['application/x-research-info-systems'],
    endings: ['.ris'], isRead: true, isWritten: true,
  },
  {
    name: 'goodreads', title: 'a Goodreads export', mediaTypes: CSV, endings: ['.csv'],
    isRead: true, isWritten: false,
  },
  {
    name: 'storygraph', title: 'a StoryGraph export', mediaTypes: CSV, endings: ['.csv'],
    isRead: true, isWritten: false,
  },
  {
    name: 'librarything', title: 'a LibraryThing export',
    mediaTypes: ['text/tab-separated-values', 'application/json'], endings: ['.tsv', '.json'],
    isRead: true, isWritten: false,
  },
  {
    name: 'calibre', title: 'a Calibre catalog', mediaTypes: CSV, endings: ['.csv'],
    isRead: true, isWritten: false,
  },
  {
    name: 'isbn', title: 'a list of ISBNs', mediaTypes: ['text/plain'], endings: ['.txt'],
    isRead: true, isWritten: false,
  },
] as const satisfies readonly FormatRow[];

export type FormatName = (typeof TABLE)[number]['name'];

export type Format = FormatRow & { readonly name: FormatName };

export const FORMATS: readonly Format[] = TABLE;

/** The media types that are written of a format. */
export function listWrittenTypes(
  { mediaTypes, writtenTypes = mediaTypes }: Format,
): readonly string[] {
  return writtenTypes;
}

export const READ_FORMATS: readonly Format[] = FORMATS.filter(({ isRead }) => isRead);

export const WRITTEN_FORMATS: readonly Format[] = FORMATS.filter(({ isWritten }) => isWritten);

export const JSON_LINES_TYPES: readonly string[] =
  READ_FORMATS.find(({ name }) => name === 'jsonl')?.mediaTypes ?? [];

/** The media types of all other files that can be read. */
export const FILE_TYPES: readonly string[] = [...new Set(
  READ_FORMATS.flatMap(({ mediaTypes }) => mediaTypes))]
  .filter((mediaType) => !JSON_LINES_TYPES.includes(mediaType));
