/**
 * Prints the outcome of an import: first what the file is taken for; each record that was skipped
 * with its line, and with `--verbose` each book that is new or changes, as soon as its result is
 * known; and the totals at the end.
 */
import { AppError } from '../../../base/errors.ts';
import type { FieldError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { quote } from '../../../base/text/error-message.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { formatCharset } from '../../../base/text/charset.ts';
import { METADATA_PREFIX } from '../../../books/book-members.ts';
import { COMBINED_MEMBERS, READING_DATES } from '../../../books/merge-choice.ts';
import type { FileStart } from '../../../books/transfer/book-file.ts';
import { findFormatTitle } from '../../../books/transfer/format-list.ts';
import type { FormatName } from '../../../books/transfer/format-list.ts';
import { BOOK_EXISTS, ID_EXISTS } from '../../../books/transfer/importer.ts';
import type { ImportMode } from '../../../books/transfer/import-mode.ts';
import type { Output } from '../../terminal/output.ts';
import type { Progress } from '../../terminal/progress.ts';

/** The line of a record; absent where the records are the metadata of books, which have none. */
type RecordPlace = { readonly line?: number };

type ImportProblem = RecordPlace & {
  readonly record?: number; readonly key?: string; readonly id?: string;
  readonly detail: string;
};

type ReportedSource = Pick<FileStart, 'encoding'> & {
  readonly format: FileStart['format'] | 'metadata';
};

/** A book that is new or changes; new ones have no members that change. */
type ChangedBook = RecordPlace & {
  readonly status: string; readonly id: string | null;
  readonly title: string; readonly members: readonly string[];
  /** The values of these before and after, in short. */
  readonly values: JsonObject;
};

// A file that is imported twice causes the same problem in every line. People are told how many
// more there were; JSON has the first ones, and the count in `skipped`.
const ALIKE_SHOWN_MAX = 20;
const ALIKE_DETAILS_MAX = 1000;
const PROBLEMS_IN_JSON_MAX = 10_000;
const CHANGES_IN_JSON_MAX = 10_000;

/** The verb in the line of a book, by the status of its record: in a dry run, and else. */
const VERBS: Readonly<Record<string, readonly [dry: string, done: string]>> = {
  imported: ['would import', 'imported'], updated: ['would update', 'updated'],
  replaced: ['would replace', 'replaced'], unchanged: ['would leave', 'left'],
};

/** The end of the line of a book of which no member changes. */
const NOTED: Readonly<Record<string, string>> = {
  updated: ': no member changes, what the file says is noted',
};

/** The option for the books of such records, which are there already. */
const HINTS: Readonly<Record<string, string>> = {
  [ID_EXISTS]: '--on-match update sets what the file says of books whose id exists, --replace '
    + 'replaces them whole',
  [BOOK_EXISTS]: '--on-match update updates books that the catalog has',
};

/**
 * The sentences for counts of the last line, by their names there. `first`: the record that is
 * named of those that are counted.
 */
const REMARKS: Readonly<Record<string, (count: number, first: JsonObject) => string>> = {
  unmatchable: (count) => (count === 1 ? '1 record has no id to be known again by: a later import '
    + 'of this file adds it' : `${count} records have no id to be known again by: a later import `
    + 'of this file adds them') + ' once more, but not with --match isbn,title',
  withoutId: (count) => (count === 1 ? '1 record has no id of its source: once it has changed, a '
    + 'later import adds it' : `${count} records have no id of their source: once they have `
    + 'changed, a later import adds them') + ' once more, but not with --match isbn,title',
  sameIsbn: (count, first) => `${count === 1 ? '1 book is' : `${count} books are`} there twice `
    + `now, with one ISBN: ${formatFirst(count, first)}, and ${formatMerge(first)} makes one of `
    + 'the two; book:duplicates --by isbn lists books that are there twice',
  sameTitle: (count, first) => `${
    count === 1 ? '1 new book has' : `${count} new books have`} title and first author of another `
    + `book: ${formatFirst(count, first)}, and ${formatMerge(first)} makes one of the two; `
    + 'book:duplicates --by title lists books that are there twice',
  merged: (count, first) => `${count} ${count === 1 ? 'record is of a book that was'
    : 'records are of books that were'} merged into another: nothing of it was taken; ${
    formatFirst(count, first)}, and book:update ${String(first['otherId'])} writes by hand what `
    + 'you want of it',
  lostLetters: (count, first) => `${formatRecords(count)} ${count === 1 ? 'has' : 'have'} ? in the `
    + `place of letters, which the book keeps: ${formatFirst(count, first)}; save the file as `
    + 'UTF-8, which has all letters (in Excel "CSV UTF-8")',
  withoutStatus: (count, first) => `${
    count === 1 ? '1 new book has' : `${count} new books have`} a finish date and no status, and ${
    count === 1 ? 'does' : 'do'} not count as read: ${formatFirst(count, first)}; a column `
    + 'reading.status with "read" says so, in the same file with --match isbn,title',
};

/** The remark on a dry run of records that nobody matches by ISBN: they are not there twice yet. */
function formatAvoidable(count: number, first: JsonObject): string {
  return `${count === 1 ? '1 new book would have' : `${count} new books would have`} the ISBN of `
    + `another book: ${formatFirst(count, first)}; with --match isbn the import updates that book `
    + 'instead';
}

function formatMerge({ id, otherId }: JsonObject): string {
  return id === null || otherId === null ? 'book:merge'
    : `book:merge ${String(otherId)} --from ${String(id)} --fill`;
}

/** Where several records stand on a line, the record has its number. */
function formatFirst(count: number, { line, record, title }: JsonObject): string {
  const place = Number(record) > Number(line) ? `record ${String(record)}` : `line ${String(line)}`;
  return `${count === 1 ? 'it is' : 'the first is'} ${quote(String(title))} (${place})`;
}

/** Formats whose fields may be objects: `metadata` has a limit of depth too. */
const NESTED_FORMATS: ReadonlySet<string> =
  new Set<FormatName>(['jsonld', 'csl', 'librarything']);

export class ImportReport {
  /** Bytes of the source read so far, for the progress. */
  bytesRead = 0;
  /** Why the source could not be read to its end. */
  sourceError: AppError | null = null;
  readonly #output: Output;
  readonly #progress: Progress;
  readonly #isDryRun: boolean;
  readonly #isVerbose: boolean;
  readonly #isByIsbn: boolean;
  #problems: ImportProblem[] = [];
  #changes: ChangedBook[] = [];
  #resultCount = 0;
  /** How often each problem without field errors has occurred. */
  readonly #timesByDetail = new Map<string, number>();
  #file: JsonObject = {};
  #totals: JsonObject | null = null;

  constructor(
    output: Output, progress: Progress,
    mode: Pick<ImportMode, 'isDryRun' | 'isVerbose' | 'matches'>,
  ) {
    this.#output = output;
    this.#progress = progress;
    this.#isDryRun = mode.isDryRun;
    this.#isVerbose = mode.isVerbose;
    this.#isByIsbn = mode.matches.includes('isbn');
  }

  /** Says what the file is taken for, or that the metadata of books are read again. */
  begin({ format, encoding }: ReportedSource): void {
    this.#file = { format, encoding };
    if (this.#output.isJson) return;
    const title = this.#isOfMetadata ? 'metadata.source of all books' : findFormatTitle(format);
    const name = encoding === 'utf-8' ? '' : ` (${formatCharset(encoding)})`;
    this.#output.note(`reading ${title}${name}`);
  }

  /**
   * Adds one line of the response: what the server takes the file for, the result of a record, or
   * the totals at the end.
   */
  addResult(result: JsonObject): void {
    if (result['status'] === undefined) {
      if (result['imported'] !== undefined) this.#totals = result;
      // `begin` has told the rest of the first line.
      else if (isJsonObject(result['columns'])) this.#reportColumns(result['columns']);
      return;
    }
    this.#resultCount += 1;
    this.#progress.update(this.#resultCount, this.bytesRead);
    if (result['status'] === 'skipped') this.#reportSkipped(result);
    else if (this.#isVerbose && result['title'] !== undefined) this.#reportChange(result);
  }

  /** Says which columns are taken for members that they do not name. */
  #reportColumns(columns: JsonObject): void {
    this.#file = { ...this.#file, columns };
    const words = Object.entries(columns).filter(([name, content]) =>
      !String(content).startsWith(METADATA_PREFIX)
      && name.toLowerCase() !== String(content).toLowerCase());
    if (this.#output.isJson || words.length === 0) return;
    const list = words.map(([name, content]) => `${quote(name)} as ${String(content)}`).join(', ');
    this.#output.note(`reading ${list}; --column says otherwise`);
  }

  #reportChange({ line, status, id, title, members, values }: JsonObject): void {
    const change: ChangedBook = {
      ...this.#placeOf(line), status: String(status), title: String(title),
      id: typeof id === 'string' ? id : null,
      members: Array.isArray(members) ? members.map(String) : [],
      values: isJsonObject(values) ? values : {},
    };
    if (this.#output.isJson) {
      if (this.#changes.length < CHANGES_IN_JSON_MAX) this.#changes.push(change);
      return;
    }
    this.#progress.end();
    const verb = VERBS[change.status]?.[this.#isDryRun ? 0 : 1] ?? change.status;
    const place = change.id === null ? '' : ` (${change.id})`;
    const changes = Object.entries(change.values).map(([name, text]) => `${name}: ${String(text)}`);
    const list = changes.length === 0 ? NOTED[change.status] ?? '' : `: ${changes.join('; ')}`;
    this.#note(change, `${verb} ${quote(change.title)}${place}${list}`);
  }

  #placeOf(line: JsonValue | undefined): RecordPlace {
    return this.#isOfMetadata ? {} : { line: Number(line) };
  }

  get #isOfMetadata(): boolean {
    return this.#file['format'] === 'metadata';
  }

  #note({ line }: RecordPlace, text: string): void {
    this.#output.note(line === undefined ? text : `line ${line}: ${text}`);
  }

  /** Why the import was stopped before its end; null: it was not. */
  get stopReason(): string | null {
    const error = this.#totals?.['error'];
    return typeof error === 'string' ? error : null;
  }

  #reportSkipped(result: JsonObject): void {
    const errors = parseFieldErrors(result['errors']);
    const { line, record, key, id } = result;
    const detail = String(result['detail']);
    if (errors.length === 0 && this.#countAlike(detail) > ALIKE_SHOWN_MAX) return;
    const fieldDetails = errors.map((error) =>
      error.pointer === '' ? error.detail : `${error.pointer}: ${error.detail}`).join('; ');
    this.#report({
      ...this.#placeOf(line),
      ...record === undefined ? {} : { record: Number(record) },
      ...typeof key === 'string' ? { key } : {},
      ...typeof id === 'string' ? { id } : {},
      detail: fieldDetails === '' ? detail : fieldDetails,
    });
  }

  /** Prints the totals; resolves with the exit code. Throws when the import was cut short. */
  async print(): Promise<number> {
    const totals = this.#totals;
    if (totals === null) throw new AppError('unavailable', 'the import was cut short');
    if (!this.#output.isJson) this.#noteTotals(totals);
    const { imported, updated, unchanged, skipped } = totals;
    const text = `imported ${String(imported)}, updated ${String(updated)}, `
      + `unchanged ${String(unchanged)}, skipped ${String(skipped)}`;
    const summary = this.#isDryRun ? `would have ${text} (dry run, nothing was changed)` : text;
    const { stopReason } = this;
    const changes = this.#isVerbose ? { changes: this.#changes } : {};
    await this.#output.result({ ...this.#file, ...totals, problems: this.#problems, ...changes },
      ...stopReason === null ? [summary] : []);
    if (stopReason !== null) {
      throw new AppError('unavailable', `the import stopped: ${stopReason} (until then ${text})`);
    }
    return Number(skipped) > 0 ? 1 : 0;
  }

  #noteTotals(totals: JsonObject): void {
    for (const [detail, times] of this.#timesByDetail) {
      if (times > ALIKE_SHOWN_MAX) {
        this.#output.note(`${times - ALIKE_SHOWN_MAX} more: ${detail}`);
      }
      const hint = HINTS[detail];
      if (hint !== undefined) this.#output.note(hint);
    }
    const { encoding } = totals;
    if (typeof encoding === 'string' && encoding !== 'utf-8') {
      this.#output.note(`the file is no UTF-8: it was read as ${formatCharset(encoding)}`);
    }
    const { imported, updated, unchanged, skipped, otherTypes, error } = totals;
    const isEmpty = [imported, updated, unchanged, skipped].every((count) => count === 0);
    if (isEmpty && otherTypes === undefined && error === undefined) {
      this.#output.note(this.#isOfMetadata
        ? 'no book has records of other programs there' : 'the file has no records');
    }
    for (const [type, count] of countsOf(otherTypes)) {
      this.#output.note(
        `${formatOtherType(type, count)}: --all-types takes ${count === 1 ? 'it' : 'them'}`);
    }
    this.#noteMembers('replaced', formatBooks, totals['replacedMembers'], totals['firstReplaced'],
      (name) => COMBINED_MEMBERS.includes(name) ? '; --on-match fill adds instead' : '');
    this.#noteMembers('kept', formatBooks, totals['keptMembers'], totals['firstKept'], () =>
      ': it is too long to be kept beside what the file says, which is in metadata.source instead');
    this.#noteMembers('passed over', formatBooks, totals['passedOver'], totals['firstPassedOver'],
      () => ': the book says something else, and a fill leaves it');
    const isNested = NESTED_FORMATS.has(String(this.#file['format']));
    this.#noteMembers('left out', formatRecords, totals['leftOut'], totals['firstLeftOut'],
      (name) => READING_DATES.includes(name) ? ": contradicts the book's other date"
        : `: too long${isNested ? ' or nested too deep' : ''}`);
    const place = this.#file['format'] === 'csv' ? 'metadata' : 'metadata.source';
    this.#noteMembers('put aside', formatRecords, totals['putAside'], totals['firstPutAside'],
      (name) => `: not valid${READING_DATES.includes(name) ? ', or not of the last reading' : ''}; `
        + `see ${place}`);
    for (const [name, count] of countsOf(totals['ownColumns'])) {
      this.#output.note(`kept in metadata: ${quote(name)} in ${formatRecords(count)}, a column `
        + 'that the catalog does not know: --column says what it is');
    }
    const { alike } = totals;
    for (const [name, format] of Object.entries(REMARKS)) {
      const count = totals[name];
      const first = isJsonObject(alike) && isJsonObject(alike[name]) ? alike[name] : {};
      if (typeof count !== 'number') continue;
      const isAvoidable = name === 'sameIsbn' && this.#isDryRun && !this.#isByIsbn;
      this.#output.note((isAvoidable ? formatAvoidable : format)(count, first));
    }
  }

  /**
   * Notes of each member that is counted how often, and the first record, where records have lines:
   * `kept: reading.review in 1 book, it is "Emma" (line 12)`, with the end of `describe` behind it.
   */
  #noteMembers(
    verb: string, formatCount: (count: number) => string, counts: JsonValue | undefined,
    firstRecords: JsonValue | undefined, describe: (name: string) => string,
  ): void {
    for (const [name, count] of countsOf(counts)) {
      const record = isJsonObject(firstRecords) ? firstRecords[name] : undefined;
      const first =
        isJsonObject(record) && !this.#isOfMetadata ? `, ${formatFirst(count, record)}` : '';
      this.#output.note(`${verb}: ${name} in ${formatCount(count)}${first}${describe(name)}`);
    }
  }

  /**
   * Counts a problem; returns how often it has occurred. A detail that is new after
   * ALIKE_DETAILS_MAX others is not counted, to bound the memory: it is always the first, so shown.
   */
  #countAlike(detail: string): number {
    const times = (this.#timesByDetail.get(detail) ?? 0) + 1;
    const isCounted = times > 1 || this.#timesByDetail.size < ALIKE_DETAILS_MAX;
    if (isCounted) this.#timesByDetail.set(detail, times);
    return times;
  }

  #report(problem: ImportProblem): void {
    if (this.#output.isJson) {
      if (this.#problems.length < PROBLEMS_IN_JSON_MAX) this.#problems.push(problem);
      return;
    }
    this.#progress.end();
    const { line, record, key, id, detail } = problem;
    // A line on which several records stand, as in JSON, does not tell which record it is.
    const isOfLine = record === undefined || line === undefined || record <= line;
    const names = [
      ...record === undefined || !isOfLine ? [] : [`record ${record}`],
      ...key === undefined ? [] : [`key ${key}`],
      ...id === undefined ? [] : [id],
    ];
    const place = names.length === 0 ? '' : ` (${names.join(', ')})`;
    if (isOfLine) this.#note(problem, detail + place);
    else this.#output.note(`record ${record}: ${detail}${place}`);
  }
}

/** The counts of an object by their names, those that occur most first. */
function countsOf(value: JsonValue | undefined): readonly (readonly [string, number])[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).map(([name, count]) => [name, Number(count)] as const)
    .sort((left, right) => right[1] - left[1]);
}

/** `4 articles are no books`; `4 of type JOUR are no books` where the type is no English word. */
function formatOtherType(type: string, count: number): string {
  const isWord = /^[a-z]+[a-rt-z]$/.test(type);
  const isOne = count === 1;
  const records = isWord ? `${type}${isOne ? '' : 's'}` : `of type ${type === '' ? 'none' : type}`;
  return `${count} ${records} ${isOne ? 'is no book' : 'are no books'}`;
}

function formatBooks(count: number): string {
  return `${count} book${count === 1 ? '' : 's'}`;
}

function formatRecords(count: number): string {
  return `${count} record${count === 1 ? '' : 's'}`;
}

function parseFieldErrors(errors: unknown): FieldError[] {
  if (!Array.isArray(errors)) return [];
  return errors.flatMap((error) => isJsonObject(error)
    ? [{ pointer: String(error['pointer']), detail: String(error['detail']) }] : []);
}
