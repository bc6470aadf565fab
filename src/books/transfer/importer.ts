/**
 * Imports records in batches and reports the result of each as a line of JSON. It does not know
 * where the records come from or where the lines go.
 *
 * Several batches may be under way at once, so that parsing one overlaps with the disk's write of
 * another. Each is parsed and handed to the catalog before its `run` first waits, so the catalog
 * stores batches in the order of the calls; only one that is too large for a transaction is stored
 * in halves later, perhaps after the batches that follow. The counts are of all batches together.
 */
import { assert } from '../../base/assert.ts';
import { AppError } from '../../base/errors.ts';
import type { FieldError } from '../../base/errors.ts';
import { invalid, isJsonObject } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJsonRecord } from '../../base/json/parse.ts';
import type { JsonObject } from '../../base/schema.ts';
import { joinMembers, separateMembers } from '../book-members.ts';
import type { ImportMode } from './import-mode.ts';
import { createImportRecord, parseImportRecord } from './import-record.ts';
import type { ImportRecord } from './import-record.ts';
import type { BookImport, ImportedBook, Remark } from './matching/book-import.ts';
import type { SourceRecord } from './record-splitter.ts';

/**
 * The result of one record. `line` is its line in the input, from 1. `record` is its number, from
 * 1, and `key` what its source calls it: they name records that need a person. `book` is what the
 * record says of BOOK_MEMBERS, in a verbose dry run, where it is not broken.
 */
type RecordResult =
  | {
    readonly line: number; readonly id: string | null;
    readonly status: 'imported' | 'replaced' | 'updated' | 'unchanged';
    /**
     * Only in a verbose report, for new and changed books, and for those of which there is
     * something to tell in `values`.
     */
    readonly title?: string; readonly members?: readonly string[];
    /**
     * See `ImportedBook.changes`; also what is put aside or left out, by the names that these are
     * counted by. Absent where there are none.
     */
    readonly values?: Readonly<Record<string, string>>;
    readonly book?: JsonObject;
  }
  | { readonly line: number; readonly status: 'otherType'; readonly type: string }
  | {
    readonly line: number; readonly record?: number; readonly key?: string;
    readonly status: 'skipped'; readonly id: string | null;
    readonly detail: string; readonly errors?: readonly FieldError[];
    readonly book?: JsonObject;
  };

/**
 * Each record that is a book is one of `imported`, which are new, `updated`, `unchanged` and
 * `skipped`. Of the updated ones `replaced` were replaced as a whole; of the skipped ones
 * `existing` are there already, and the others are invalid, too large or ambiguous.
 */
type ImportCount = {
  readonly imported: number;
  readonly updated: number;
  readonly replaced: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly existing: number;
  readonly dryRun: boolean;
  /**
   * In how many records a field did not fit into `metadata`, or a date of a file from here
   * contradicts the book's other, by its name.
   */
  readonly leftOut: Readonly<Record<string, number>>;
  /** How many records are no books, by their types; absent: none. */
  readonly otherTypes?: Readonly<Record<string, number>>;
  /**
   * In how many books an update set a member in the place of a value that this source had not said
   * itself, by its name; absent: in none.
   */
  readonly replacedMembers?: Readonly<Record<string, number>>;
  /**
   * In how many books a member stays as it is, as its value would have no room beside the one that
   * the record says, by its name; absent: in none.
   */
  readonly keptMembers?: Readonly<Record<string, number>>;
  /**
   * In how many books a fill leaves a member as it is, and nothing keeps what a record of our own
   * formats says instead, by its name; absent: in none.
   */
  readonly passedOver?: Readonly<Record<string, number>>;
  /** The first record of each of these, by the name; absent: there is none. */
  readonly firstReplaced?: FirstRecords;
  readonly firstKept?: FirstRecords;
  readonly firstPassedOver?: FirstRecords;
  readonly firstPutAside?: FirstRecords;
  readonly firstLeftOut?: FirstRecords;
  /** How many of the imported ones the same import would add once more; absent: none. */
  readonly unmatchable?: number;
  /**
   * How many of the imported ones the same import would add once more when they have changed in
   * their source: they have no id of it; absent: none.
   */
  readonly withoutId?: number;
  /**
   * How many of the imported ones have the ISBN of another book, or of the others match several
   * books by it, and are the one that has their own id; absent: none.
   */
  readonly sameIsbn?: number;
  /**
   * How many of the other imported ones have the title and first author of another book; absent:
   * none.
   */
  readonly sameTitle?: number;
  /** How many of the unchanged ones are of books that were merged into others; absent: none. */
  readonly merged?: number;
  /**
   * How many records have `?` in the place of letters of their books, which stay; absent: none.
   */
  readonly lostLetters?: number;
  /**
   * How many of the imported ones, but for those with an id of ours, have a date on which they were
   * finished and no status; absent: none.
   */
  readonly withoutStatus?: number;
  /** The first record of each of these five; absent: there is none. */
  readonly alike?: Readonly<Partial<Record<AlikeRemark, AlikeBooks>>>;
  /**
   * In how many records the model refused a value of a member, the value is in doubt, or a date is
   * not of the reading that the book has, by its name; absent: in none.
   */
  readonly putAside?: Readonly<Record<string, number>>;
  /** In how many records a column of a person's own has a text, by its name; absent: in none. */
  readonly ownColumns?: Readonly<Record<string, number>>;
};

type AlikeRemark = Remark | 'merged' | 'lostLetters' | 'withoutStatus';

/** `record` is its number, from 1: several may stand on a line. */
type FirstRecord = { readonly line: number; readonly record: number; readonly title: string };

type FirstRecords = Readonly<Record<string, FirstRecord>>;

/**
 * A new book, and the book that it is like: an id is null where a dry run would have added it. Or
 * the record of a merged book with its id, if the file has one, and the book that took it in. Or a
 * record without letters or a status and no other book.
 */
type AlikeBooks = FirstRecord & { readonly id: string | null; readonly otherId: string | null };

/** The members by which a person tells whether a file is read as it should be. */
const BOOK_MEMBERS: readonly string[] =
  ['title', 'authors', 'isbn', 'datePublished', 'inLanguage', 'reading.status', 'reading.rating',
    'reading.finishedOn'];

/** The most lines of a brief report: its reader may read only after sending all. */
const BRIEF_LINES_MAX = 1000;

/** The detail of a record that is skipped because its id exists. */
export const ID_EXISTS = 'a book with this id exists';
/** The detail of a record that is skipped because a book matches it. */
export const BOOK_EXISTS = 'the catalog has this book';
/** The detail of a record that is skipped because it would change what an earlier one has said. */
const BOOK_REPEATED = 'an earlier record of this file is this book: if they are two books, correct '
  + 'what makes them one, such as the same id or ISBN, or match by something else';

type ParsedRecord = {
  readonly line: number; readonly number: number; readonly key: string | null;
  readonly record: ImportRecord; readonly leftOut: readonly string[];
  readonly putAside: readonly string[]; readonly ownColumns: readonly string[];
};

export class Importer {
  readonly #bookImport: BookImport;
  readonly #isDryRun: boolean;
  /** Whether only records that could not be imported are reported, the first of them. */
  readonly #isBrief: boolean;
  /** Whether new and changed books are named, and what changes in them. */
  readonly #isVerbose: boolean;
  #linesReported = 0;
  #recordCount = 0;
  /** How often each outcome has come; `broken`: the record cannot be imported. */
  readonly #outcomes = new NameCounts<ImportedBook['outcome'] | 'broken'>();
  readonly #otherTypes = new NameCounts();
  readonly #leftOut = new NamedRecords();
  readonly #replaced = new NamedRecords();
  readonly #kept = new NamedRecords();
  readonly #passedOver = new NamedRecords();
  readonly #putAside = new NamedRecords();
  readonly #ownColumns = new NameCounts();
  readonly #remarks = new NameCounts<'unmatchable' | 'withoutId' | AlikeRemark>();
  readonly #alike: Partial<Record<AlikeRemark, AlikeBooks>> = {};
  #failure: string | null = null;

  constructor(
    bookImport: BookImport, mode: Pick<ImportMode, 'isDryRun' | 'isVerbose'>, isBrief = false,
  ) {
    this.#bookImport = bookImport;
    this.#isDryRun = mode.isDryRun;
    this.#isVerbose = mode.isVerbose;
    this.#isBrief = isBrief;
  }

  get count(): ImportCount {
    const outcomes = this.#outcomes;
    const replacedCount = outcomes.count('replaced');
    const existing = outcomes.count('exists');
    return {
      imported: outcomes.count('imported'), updated: outcomes.count('updated') + replacedCount,
      replaced: replacedCount, unchanged: outcomes.count('unchanged'),
      skipped: existing + outcomes.count('repeated') + outcomes.count('ambiguous')
        + outcomes.count('broken'),
      existing, dryRun: this.#isDryRun, leftOut: this.#leftOut.toObject(),
      ...this.#leftOut.isEmpty ? {} : { firstLeftOut: this.#leftOut.first },
      ...this.#otherTypes.isEmpty ? {} : { otherTypes: this.#otherTypes.toObject() },
      ...this.#replaced.isEmpty ? {}
        : { replacedMembers: this.#replaced.toObject(), firstReplaced: this.#replaced.first },
      ...this.#kept.isEmpty ? {}
        : { keptMembers: this.#kept.toObject(), firstKept: this.#kept.first },
      ...this.#passedOver.isEmpty ? {}
        : { passedOver: this.#passedOver.toObject(), firstPassedOver: this.#passedOver.first },
      ...this.#remarks.toObject(),
      ...Object.keys(this.#alike).length === 0 ? {} : { alike: this.#alike },
      ...this.#putAside.isEmpty ? {}
        : { putAside: this.#putAside.toObject(), firstPutAside: this.#putAside.first },
      ...this.#ownColumns.isEmpty ? {} : { ownColumns: this.#ownColumns.toObject() },
    };
  }

  /**
   * Why the store refused a batch; null while it has refused none. Nothing is tried after that, and
   * the records that were refused are neither reported nor counted: the reason is told once.
   */
  get failure(): string | null {
    return this.#failure;
  }

  /**
   * Imports records, in one transaction where they fit in one. Returns the lines of their results,
   * in their order. May be called again before an earlier call has resolved.
   */
  async run(records: readonly SourceRecord[]): Promise<string> {
    const parsedOrLines = records.map((record) => this.#parseRecord(record));
    const lines = await this.#importBatch(
      parsedOrLines.filter((parsed) => typeof parsed !== 'string'));
    const importedLines = lines.values();
    return parsedOrLines.map((parsed) =>
      typeof parsed === 'string' ? parsed : importedLines.next().value ?? '').join('');
  }

  /** The parsed record, or the line of one that is not imported. */
  #parseRecord(source: SourceRecord): ParsedRecord | string {
    const { line } = source;
    this.#recordCount += 1;
    const number = this.#recordCount;
    if ('otherType' in source) {
      this.#otherTypes.add(source.otherType);
      return this.#report({ line, status: 'otherType', type: source.otherType });
    }
    const key = 'key' in source ? source.key ?? null : null;
    try {
      if (source.problem !== undefined) throw new AppError('malformed', source.problem);
      if (source.json !== undefined) {
        const record = parseImportRecord(parseJsonRecord(source.json));
        return { line, number, key, record, leftOut: [], putAside: [], ownColumns: [] };
      }
      const { body, leftOut, putAside = [], ownColumns = [], titleProblem } = source;
      if (titleProblem !== undefined) {
        throw invalid([{ pointer: '/title', detail: titleProblem }]);
      }
      const record = createImportRecord(body);
      return { line, number, key, record, leftOut, putAside, ownColumns };
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      this.#outcomes.add('broken');
      const { errors } = thrown.details;
      return this.#report({
        line, ...identify(number, key), status: 'skipped', id: null, detail: thrown.message,
        ...errors === undefined ? {} : { errors },
      });
    }
  }

  /** Imports records in one transaction, or in several where they are too large for one. */
  async #importBatch(parsedRecords: readonly ParsedRecord[]): Promise<readonly string[]> {
    if (parsedRecords.length === 0) return [];
    if (this.#failure !== null) return [];
    try {
      const records = parsedRecords.map(({ record }) => record);
      const books = await this.#bookImport.importBatch(records);
      return parsedRecords.map((record, index) => this.#reportResult(record, books[index]));
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      if (thrown.code === 'too_large') return this.#importInHalves(parsedRecords, thrown.message);
      this.#failure ??= thrown.message;
      return [];
    }
  }

  /** Imports records that are too large for one transaction; `detail` says so of a single one. */
  async #importInHalves(
    parsedRecords: readonly ParsedRecord[], detail: string,
  ): Promise<readonly string[]> {
    const [parsedRecord] = parsedRecords;
    if (parsedRecords.length === 1 && parsedRecord !== undefined) {
      this.#outcomes.add('broken');
      return [this.#reportSkipped(parsedRecord, parsedRecord.record.id, detail)];
    }
    const half = Math.ceil(parsedRecords.length / 2);
    const firstLines = await this.#importBatch(parsedRecords.slice(0, half));
    return [...firstLines, ...await this.#importBatch(parsedRecords.slice(half))];
  }

  /** Counts the result and formats its line. `result` is defined: there is one for each record. */
  #reportResult(parsed: ParsedRecord, result: ImportedBook | undefined): string {
    assert(result !== undefined);
    this.#outcomes.add(result.outcome);
    if (result.outcome === 'ambiguous') {
      const ids = result.ids.join(' and ');
      return this.#reportSkipped(parsed, null,
        `several books match it, ${ids}: it is left out, as it does not tell which of them it is`);
    }
    const { line, record } = parsed;
    const { id, outcome, leftOut, changes = {} } = result;
    const book = this.#describeBook(parsed);
    if (result.knownBy === 'nothing') this.#remarks.add('unmatchable');
    if (result.knownBy === 'wording') this.#remarks.add('withoutId');
    if (result.alike) this.#remarkAlike(result.alike.remark, parsed, id, result.alike.id);
    if (result.isMerged === true) this.#remarkAlike('merged', parsed, record.id, id);
    if (result.hasLostLetters === true) this.#remarkAlike('lostLetters', parsed, id, null);
    if (outcome === 'imported' && record.id === null && isFinishedOnly(record.fields)) {
      this.#remarkAlike('withoutStatus', parsed, id, null);
    }
    if (outcome === 'repeated') return this.#reportSkipped(parsed, id, BOOK_REPEATED);
    if (outcome === 'exists') {
      if (record.id !== id) return this.#reportSkipped(parsed, id, BOOK_EXISTS, true);
      return this.#report({ line, status: 'skipped', id, detail: ID_EXISTS, ...book }, true);
    }
    for (const name of parsed.ownColumns) this.#ownColumns.add(name);
    const first = describeRecord(parsed);
    const leftOutNames = [...new Set([...parsed.leftOut, ...leftOut])];
    const putAsideNames = [...new Set([...parsed.putAside, ...result.putAside ?? []])];
    this.#leftOut.addAll(leftOutNames, first);
    this.#putAside.addAll(putAsideNames, first);
    this.#replaced.addAll(result.replacedNames ?? [], first);
    this.#kept.addAll(result.stayingNames ?? [], first);
    this.#passedOver.addAll(result.passedOverNames ?? [], first);
    if (!this.#isVerbose) return this.#report({ line, status: outcome, id });
    const values = {
      ...changes, ...nameEach(putAsideNames, 'put aside'), ...nameEach(leftOutNames, 'left out'),
    };
    const hasValues = Object.keys(values).length > 0;
    const names = outcome !== 'unchanged' || hasValues
      ? { title: first.title, members: Object.keys(values) } : {};
    return this.#report(
      { line, status: outcome, id, ...names, ...hasValues ? { values } : {}, ...book });
  }

  #describeBook({ record }: ParsedRecord): { readonly book?: JsonObject } {
    if (!this.#isVerbose || !this.#isDryRun) return {};
    const members = separateMembers(record.fields);
    return { book: joinMembers(Object.fromEntries(BOOK_MEMBERS.flatMap((name) =>
      members[name] === undefined ? [] : [[name, members[name]]]))) };
  }

  /** Counts a record that is like another book, and keeps the first. */
  #remarkAlike(
    remark: AlikeRemark, parsed: ParsedRecord, id: string | null, otherId: string | null,
  ): void {
    this.#remarks.add(remark);
    this.#alike[remark] ??= { ...describeRecord(parsed), id, otherId };
  }

  /** The line of a record that is not imported, which names it for a person. */
  #reportSkipped(
    parsed: ParsedRecord, id: string | null, detail: string, isExpected = false,
  ): string {
    const { line, number, key } = parsed;
    return this.#report({
      line, ...identify(number, key), status: 'skipped', id, detail, ...this.#describeBook(parsed),
    }, isExpected);
  }

  /**
   * The line of a result; '' where the report is brief and does without it, as without all
   * that is expected: books that come in, and those that need not.
   */
  #report(result: RecordResult, isExpected = result.status !== 'skipped'): string {
    if (this.#isBrief && (isExpected || this.#linesReported >= BRIEF_LINES_MAX)) return '';
    this.#linesReported += 1;
    return `${encodeJson(result)}\n`;
  }
}

/** Whether the record says when the book was finished, and not that it is read. */
function isFinishedOnly({ reading }: JsonObject): boolean {
  return isJsonObject(reading) && reading['finishedOn'] !== undefined
    && reading['status'] === undefined;
}

function describeRecord({ line, number, record }: ParsedRecord): FirstRecord {
  return { line, record: number, title: String(record.fields['title']) };
}

function nameEach(names: readonly string[], text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, text]));
}

function identify(
  number: number, key: string | null,
): { readonly record: number; readonly key?: string } {
  return key === null ? { record: number } : { record: number, key };
}

/** Bounds memory: a file chooses these names. */
const NAMES_MAX = 1000;
const NAME_LENGTH_MAX = 200;
const OTHERS = '…';

/** How often each name has occurred. */
class NameCounts<Name extends string = string> {
  readonly #counts = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  count(name: Name): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Counts the name, and returns it as it is counted: after NAMES_MAX others a new one is `…`. */
  add(name: Name): string {
    const short = name.slice(0, NAME_LENGTH_MAX).toWellFormed();
    const countedName = this.#counts.has(short) || this.#counts.size < NAMES_MAX ? short : OTHERS;
    this.#counts.set(countedName, (this.#counts.get(countedName) ?? 0) + 1);
    return countedName;
  }

  toObject(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}

/** How often each name has occurred, and the first record with it. */
class NamedRecords extends NameCounts {
  readonly #first = new Map<string, FirstRecord>();

  get first(): FirstRecords {
    return Object.fromEntries(this.#first);
  }

  addAll(names: readonly string[], record: FirstRecord): void {
    for (const name of names) {
      const countedName = this.add(name);
      if (!this.#first.has(countedName)) this.#first.set(countedName, record);
    }
  }
}
