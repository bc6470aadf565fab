/**
 * The media type of a file of books, and the response of its import in words: what the file is
 * taken for, each record that could not be imported, and the count at the end. Pure: the server
 * alone reads and writes files.
 */
import { valueLabels } from '../../base/book-labels.ts';
import { dropBackticks, formatFieldProblem, formatPlace } from '../../base/field-problem.ts';
import { parseJson } from '../../base/json-text.ts';
import { COMBINED_MEMBERS, READING_DATES } from '../../../books/merge-choice.ts';
import type { FileColumns } from '../../../books/transfer/csv-columns.ts';
import { FORMATS, findFormatTitle } from '../../../books/transfer/format-list.ts';

/** The first line: what the server takes a file for. */
type FileSource = {
  readonly format: string; readonly encoding: string;
  /** The columns of a csv by their names, each with what it holds; absent: their names say it. */
  readonly columns?: FileColumns;
};

/** The line of a record; `book` and `values` are there in a verbose dry run. */
type CheckedRecord = {
  readonly line: number; readonly status: string; readonly type?: string;
  readonly book?: {
    readonly title: string; readonly authors?: readonly { readonly name: string }[];
    readonly isbn?: string; readonly datePublished?: string; readonly inLanguage?: string;
    readonly reading?: {
      readonly status?: string; readonly rating?: number; readonly finishedOn?: string;
    };
  };
  readonly values?: Readonly<Record<string, string>>;
};

/** The line of a record that was not imported. */
type SkippedRecord = {
  readonly line: number; readonly record?: number; readonly key?: string; readonly detail: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
};

/** The last line. `encoding` is there when it is another than the first line says. */
type ImportTotals = {
  readonly imported: number; readonly updated: number; readonly unchanged: number;
  readonly skipped: number; readonly existing: number; readonly dryRun: boolean;
  readonly otherTypes?: Readonly<Record<string, number>>;
  readonly unmatchable?: number;
  readonly withoutId?: number;
  readonly sameIsbn?: number;
  readonly sameTitle?: number;
  /** The first record of these. */
  readonly alike?: Readonly<Record<string, FirstBook>>;
  readonly merged?: number;
  readonly lostLetters?: number;
  readonly withoutStatus?: number;
  readonly putAside?: Readonly<Record<string, number>>;
  readonly ownColumns?: Readonly<Record<string, number>>;
  readonly replacedMembers?: Readonly<Record<string, number>>;
  readonly keptMembers?: Readonly<Record<string, number>>;
  readonly passedOver?: Readonly<Record<string, number>>;
  readonly firstReplaced?: Readonly<Record<string, FirstBook>>;
  readonly firstKept?: Readonly<Record<string, FirstBook>>;
  readonly firstPassedOver?: Readonly<Record<string, FirstBook>>;
  readonly firstPutAside?: Readonly<Record<string, FirstBook>>;
  readonly firstLeftOut?: Readonly<Record<string, FirstBook>>;
  readonly leftOut: Readonly<Record<string, number>>;
  readonly encoding?: string;
  /** Why the import ended early. */
  readonly error?: string;
};

type FirstBook = { readonly line: number; readonly record: number; readonly title: string };

export type ImportOutcome = {
  readonly source: FileSource | null;
  /** Empty for a brief response. */
  readonly records: readonly CheckedRecord[];
  readonly skippedRecords: readonly SkippedRecord[];
  /** The ids of new books; empty for a brief response. */
  readonly addedIds: readonly string[];
  /** Null: the response was cut short. */
  readonly count: ImportTotals | null;
};

export function parseOutcome(text: string): ImportOutcome {
  const values = text.split('\n').filter((line) => line !== '')
    .map((line): object => parseJson(line));
  return {
    source: values.find(isSource) ?? null,
    records: values.filter(isChecked),
    skippedRecords: values.filter(isSkipped),
    addedIds: values.filter(isAdded).map(({ id }) => id),
    count: values.find((value): value is ImportTotals => 'imported' in value) ?? null,
  };
}

function isSource(value: object): value is FileSource {
  return 'format' in value && 'encoding' in value;
}

function isChecked(value: object): value is CheckedRecord {
  return 'status' in value;
}

type CheckedColumn = readonly [
  title: string, format: (book: NonNullable<CheckedRecord['book']>) => string | undefined,
];

const CHECKED_COLUMNS: readonly CheckedColumn[] = [
  ['Authors', ({ authors = [] }) => authors.map(({ name }) => name).join('; ') || undefined],
  ['ISBN', ({ isbn }) => isbn],
  ['Published', ({ datePublished }) => datePublished],
  ['Language', ({ inLanguage }) => inLanguage],
  ['Status', ({ reading: { status } = {} }) =>
    status === undefined ? undefined : valueLabels['status']?.[status] ?? status],
  ['Rating', ({ reading: { rating } = {} }) => rating?.toString()],
  ['Finished', ({ reading: { finishedOn } = {} }) => finishedOn],
];

/** The titles and rows of a table of records that were checked: columns that one of them has. */
export function tabulateChecked(
  records: readonly CheckedRecord[],
): { readonly titles: readonly string[]; readonly rows: readonly (readonly string[])[] } {
  const columns = CHECKED_COLUMNS.filter(([, format]) =>
    records.some(({ book }) => book !== undefined && format(book) !== undefined));
  return {
    titles: ['Title', ...columns.map(([title]) => title), 'What would happen'],
    rows: records.map((record) => {
      const { line, book } = record;
      return [book?.title ?? `Line ${line}`,
        ...columns.map(([, format]) => (book === undefined ? undefined : format(book)) ?? '–'),
        formatFate(record)];
    }),
  };
}

/** The words for what would become of a book, by the status of its record. */
const FATES: Readonly<Record<string, string>> = {
  imported: 'add', updated: 'change', replaced: 'replace', unchanged: 'leave as it is',
};

function formatFate(record: CheckedRecord): string {
  const { status, type = '', values = {} } = record;
  if (isSkipped(record)) return `skip: ${formatReason(record)}`;
  if (status === 'otherType') return `leave aside: no book, but ${type || 'of no type'}`;
  const changes = Object.entries(values).map(([name, text]) =>
    `${formatPlace(name.split('.'))} ${text}`);
  if (changes.length === 0 && status === 'updated') return 'note what the file says';
  return [FATES[status] ?? status, ...changes.length === 0 ? [] : [changes.join('; ')]].join(': ');
}

function isSkipped(value: object): value is SkippedRecord {
  return 'status' in value && value.status === 'skipped';
}

function isAdded(value: object): value is { readonly id: string } {
  return 'status' in value && value.status === 'imported' && 'id' in value;
}

function formatReason({ detail, errors = [] }: SkippedRecord): string {
  return dropBackticks(errors.length === 0 ? detail : errors.map(formatFieldProblem).join('; '));
}

/** `reading a Goodreads export (Windows-1252)` */
export function formatSource({ format, encoding }: FileSource): string {
  const name = encoding === 'utf-8' ? '' : ` (${formatEncoding(encoding)})`;
  return `reading ${findFormatTitle(format)}${name}`;
}

/** `UTF-16`, `Windows-1250`, `ISO-8859-2` */
function formatEncoding(encoding: string): string {
  if (encoding.startsWith('utf-16')) return 'UTF-16';
  return encoding.startsWith('windows') ? `W${encoding.slice(1)}` : encoding.toUpperCase();
}

/**
 * `Line 3: Title: must not be empty (record 2, key Austen1815)`. Where several records stand on a
 * line it tells none of them: `Record 2: Title: must not be empty`.
 */
export function formatSkipped(skipped: SkippedRecord): string {
  const { line, record, key } = skipped;
  const isOfLine = record === undefined || record <= line;
  const names = [
    record === undefined || !isOfLine ? '' : `record ${record}`,
    key === undefined ? '' : `key ${key}`,
  ].filter((name) => name !== '');
  return `${isOfLine ? `Line ${line}` : `Record ${record}`}: ${formatReason(skipped)}`
    + `${names.length === 0 ? '' : ` (${names.join(', ')})`}`;
}

/** `added 3 books, changed 1, left 7 as they are, skipped 0.` */
export function formatOutcome(
  { dryRun, imported, updated, unchanged, skipped }: ImportTotals,
): string {
  const added = formatNumber(imported, 'book');
  return dryRun ? `would add ${added}, change ${updated}, leave ${unchanged} as they are, skip ${
    skipped}; nothing is stored yet.`
    : `added ${added}, changed ${updated}, left ${unchanged} as they are, skipped ${skipped}.`;
}

/** Formats whose fields may be objects: there is a limit of depth too. */
const NESTED_FORMATS: ReadonlySet<string> = new Set(['jsonld', 'csl', 'librarything']);

/** Further sentences about a file. */
export function listRemarks(
  count: ImportTotals, source: FileSource | null,
): readonly string[] {
  const { existing, dryRun, encoding, otherTypes = {}, leftOut, error } = count;
  const { replacedMembers = {}, keptMembers = {}, putAside = {}, ownColumns = {} } = count;
  const { firstReplaced = {}, firstKept = {}, firstPutAside = {}, firstLeftOut = {} } = count;
  const { passedOver = {}, firstPassedOver = {} } = count;
  const { unmatchable = 0, withoutId = 0, sameIsbn = 0, merged = 0, lostLetters = 0 } = count;
  const { sameTitle = 0, withoutStatus = 0, alike = {} } = count;
  const isOther = encoding !== undefined && encoding !== 'utf-8';
  const isNested = source !== null && NESTED_FORMATS.has(source.format);
  return [
    ...error === undefined ? [] : [`the import stopped: ${error}`],
    ...existing === 0 ? [] : [`${formatNumber(existing, 'book')} skipped: there already`],
    ...isOther ? [`the file is no UTF-8: it was read as ${formatEncoding(encoding)}`] : [],
    ...listByCount(otherTypes).map(([type, number]) =>
      `no books: ${formatNumber(number, 'record')} of type ${type === '' ? 'none' : type}`),
    ...listByCount(replacedMembers).map(([name, number]) =>
      `${dryRun ? 'the file says something else than the catalog' : 'replaced'}: ${
        formatPlace(name.split('.'))} in ${formatNumber(number, 'book')}${
        formatFirst(firstReplaced[name])}${formatFilled(name, dryRun)}`),
    ...listByCount(keptMembers).map(([name, number]) =>
      `kept: ${formatPlace(name.split('.'))} in ${formatNumber(number, 'book')}${
        formatFirst(firstKept[name])}; there is no room to keep it beside what the file says, `
        + 'which is among the other data of the book'),
    ...listByCount(passedOver).map(([name, number]) =>
      `passed over: ${formatPlace(name.split('.'))} in ${formatNumber(number, 'book')}${
        formatFirst(firstPassedOver[name])}; the book says something else, which stays`),
    ...listByCount(leftOut).map(([name, number]) =>
      `left out: ${name} in ${formatNumber(number, 'record')}${formatFirst(firstLeftOut[name])}, ${
        READING_DATES.includes(name) ? 'contradicts the other date of the book'
          : `too long${isNested ? ' or nested too deep' : ''}`}`),
    ...listByCount(putAside).map(([name, number]) =>
      `put aside: ${formatPlace(name.split('.'))} in ${formatNumber(number, 'record')}${
        formatFirst(firstPutAside[name])}, not valid${
        READING_DATES.includes(name) ? ', or not of the last reading' : ''}; what the `
        + 'file says is among the other data of the book'),
    ...listByCount(ownColumns).map(([name, number]) =>
      `a column that the catalog does not know, “${name}”: it is among the other data of ${
        formatNumber(number, 'book')}`),
    ...unmatchable === 0 ? [] : [`without an id: ${formatNumber(unmatchable, 'record')}; imported `
      + 'again, they are added once more unless matched by ISBN or title'],
    ...withoutId === 0 ? [] : [`without an id of the source: ${formatNumber(withoutId, 'record')}; `
      + 'once changed there, they are added again unless matched by ISBN or title'],
    ...sameIsbn === 0 ? [] : [`the ISBN of another book: ${formatNumber(sameIsbn, 'book')}${
      formatFirst(alike['sameIsbn'])}; ${
      dryRun ? 'matched by ISBN, that book is changed instead'
        : '“Duplicates” by ISBN compares and merges them'}`],
    ...sameTitle === 0 ? [] : [`title and first author of another book: ${
      formatNumber(sameTitle, 'new book')}${
      formatFirst(alike['sameTitle'])}; “Duplicates” by title compares and merges them`],
    ...merged === 0 ? [] : [`merged into another book: ${formatNumber(merged, 'record')}${
      formatFirst(alike['merged'])}; nothing of it was taken: what you want of it you write into `
      + 'that book'],
    ...lostLetters === 0 ? [] : [`? in the place of letters: ${
      formatNumber(lostLetters, 'record')}${
      formatFirst(alike['lostLetters'])}; the books keep theirs. Save the file as UTF-8, which has `
      + 'all letters (in Excel “CSV UTF-8”)'],
    ...withoutStatus === 0 ? [] : [`a finish date and no status: ${
      formatNumber(withoutStatus, 'new book')}${formatFirst(alike['withoutStatus'])}; not counted `
      + 'as read until the status says so: choose books in the list to set it for many'],
  ];
}

/** The end of a remark on a replaced value: it tells what another choice does with the value. */
function formatFilled(name: string, dryRun: boolean): string {
  if (COMBINED_MEMBERS.includes(name)) return '; “fill what is missing” adds instead';
  return dryRun ? '; “fill what is missing” leaves it as it is' : '';
}

function formatFirst(first: FirstBook | undefined): string {
  if (first === undefined) return '';
  const { line, record, title } = first;
  return ` (first: ${record > line ? `record ${record}` : `line ${line}`}, “${title}”)`;
}

/** The most frequent first. */
function listByCount(counts: Readonly<Record<string, number>>): readonly [string, number][] {
  return Object.entries(counts).sort((left, right) => right[1] - left[1]);
}

function formatNumber(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The media type by the ending of the file's name; null: none has this ending. */
export function findMediaType(fileName: string): string | null {
  const name = fileName.toLowerCase();
  let longest = '';
  let longestMatch: string | null = null;
  for (const { endings, mediaTypes: [mediaType = null] } of FORMATS) {
    for (const ending of endings) {
      // Several formats may have an ending; the first says the family, and the server looks closer.
      if (!name.endsWith(ending) || ending.length <= longest.length) continue;
      longest = ending;
      longestMatch = mediaType;
    }
  }
  return longestMatch;
}
