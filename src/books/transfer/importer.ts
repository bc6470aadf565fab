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
import { invalid } from '../../base/fields.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { parseJson } from '../../base/json/parse.ts';
import type { ImportMode } from './import-mode.ts';
import { parseImportRecord } from './import-record.ts';
import type { ImportRecord } from './import-record.ts';
import type { BookImport, ImportedBook } from './matching/book-import.ts';
import { NameCounts } from './name-counts.ts';
import type { SourceRecord } from './record-splitter.ts';

/**
 * The result of one record. `line` is its line in the input, from 1. `record` is its number, from
 * 1, and `key` what its source calls it: they name records that need a person.
 */
type RecordResult =
  | {
    readonly line: number; readonly id: string | null;
    readonly status: 'imported' | 'replaced' | 'updated' | 'unchanged';
    /** Of a verbose report, where the book is new or changes. */
    readonly title?: string; readonly members?: readonly string[];
  }
  | { readonly line: number; readonly status: 'otherType'; readonly type: string }
  | {
    readonly line: number; readonly record?: number; readonly key?: string;
    readonly status: 'skipped'; readonly id: string | null;
    readonly detail: string; readonly errors?: readonly FieldError[];
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
  /** In how many records a field did not fit into `metadata`, by its name. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** How many records are no books, by their types; absent: none. */
  readonly otherTypes?: Readonly<Record<string, number>>;
};

/** So many records are named in a brief report, which nobody has to read while the file is sent. */
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
};

export class Importer {
  readonly #bookImport: BookImport;
  readonly #isDryRun: boolean;
  /** Whether only records that could not be imported are reported, the first of them. */
  readonly #isBrief: boolean;
  /** Whether new and changed books are named, and what changes in them. */
  readonly #isVerbose: boolean;
  #linesReported = 0;
  readonly #otherTypes = new NameCounts();
  readonly #leftOut = new NameCounts();
  #records = 0;
  #imported = 0;
  #updated = 0;
  #unchanged = 0;
  #skipped = 0;
  #replaced = 0;
  #existing = 0;
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
    return {
      imported: this.#imported, updated: this.#updated, replaced: this.#replaced,
      unchanged: this.#unchanged, skipped: this.#skipped, existing: this.#existing,
      dryRun: this.#isDryRun, leftOut: this.#leftOut.toObject(),
      ...this.#otherTypes.isEmpty ? {} : { otherTypes: this.#otherTypes.toObject() },
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
    const lines: string[] = [];
    const parsedRecords: ParsedRecord[] = [];
    // The index in `lines` of each parsed record, whose line follows from its import.
    const lineIndexes: number[] = [];
    for (const record of records) {
      const parsedRecord = this.#parseRecord(record);
      if (typeof parsedRecord === 'string') {
        lines.push(parsedRecord);
      } else {
        lineIndexes.push(lines.length);
        parsedRecords.push(parsedRecord);
        lines.push('');
      }
    }
    const importedLines = await this.#importBatch(parsedRecords);
    for (const [index, line] of importedLines.entries()) lines[lineIndexes[index] ?? 0] = line;
    return lines.join('');
  }

  /** The parsed record, or the line of one that is not imported. */
  #parseRecord(source: SourceRecord): ParsedRecord | string {
    const { line } = source;
    this.#records += 1;
    const number = this.#records;
    if ('otherType' in source) {
      this.#otherTypes.add(source.otherType);
      return this.#report({ line, status: 'otherType', type: source.otherType });
    }
    const key = 'key' in source ? source.key ?? null : null;
    try {
      if (source.problem !== undefined) throw new AppError('malformed', source.problem);
      if (source.json !== undefined) {
        const record = parseImportRecord(parseJson(source.json));
        return { line, number, key, record, leftOut: [] };
      }
      const { body, leftOut, titleProblem } = source;
      if (titleProblem !== undefined) {
        throw invalid([{ pointer: '/title', detail: titleProblem }]);
      }
      return { line, number, key, record: parseImportRecord(body), leftOut };
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      this.#skipped += 1;
      // A record is one line, so the parser's line number would only confuse.
      const detail = thrown.message.replace(' at line 1, column', ' at column');
      const { errors } = thrown.details;
      return this.#report({
        line, ...identify(number, key), status: 'skipped', id: null, detail,
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
      return [this.#skip(parsedRecord, parsedRecord.record.id, detail)];
    }
    const half = Math.ceil(parsedRecords.length / 2);
    const firstLines = await this.#importBatch(parsedRecords.slice(0, half));
    return [...firstLines, ...await this.#importBatch(parsedRecords.slice(half))];
  }

  /** Counts the result and formats its line. `result` is defined: there is one for each record. */
  #reportResult(parsed: ParsedRecord, result: ImportedBook | undefined): string {
    assert(result !== undefined);
    const { line, record, leftOut } = parsed;
    if (result.outcome === 'ambiguous') {
      const ids = result.ids.join(' and ');
      return this.#skip(parsed, null, `several books match it, ${ids}: keep one of them`);
    }
    const { id, outcome } = result;
    if (outcome === 'exists') {
      this.#existing += 1;
      if (record.id !== id) return this.#skip(parsed, id, BOOK_EXISTS, true);
      this.#skipped += 1;
      return this.#report({ line, status: 'skipped', id, detail: ID_EXISTS }, true);
    }
    if (outcome === 'repeated') return this.#skip(parsed, id, BOOK_REPEATED);
    for (const name of new Set([...leftOut, ...result.leftOut])) this.#leftOut.add(name);
    if (outcome === 'imported') this.#imported += 1;
    else if (outcome === 'unchanged') this.#unchanged += 1;
    else this.#updated += 1;
    if (outcome === 'replaced') this.#replaced += 1;
    const names = this.#isVerbose && outcome !== 'unchanged'
      ? { title: String(record.fields['title']), members: result.changes ?? [] } : {};
    return this.#report({ line, status: outcome, id, ...names });
  }

  /** Counts a record that is not imported, and formats its line, which names it for a person. */
  #skip(
    { line, number, key }: ParsedRecord, id: string | null, detail: string, isExpected = false,
  ): string {
    this.#skipped += 1;
    return this.#report(
      { line, ...identify(number, key), status: 'skipped', id, detail }, isExpected);
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

function identify(
  number: number, key: string | null,
): { readonly record: number; readonly key?: string } {
  return key === null ? { record: number } : { record: number, key };
}
