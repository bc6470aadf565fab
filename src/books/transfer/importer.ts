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
import { AppError, messageOf } from '../../base/errors.ts';
import type { FieldError } from '../../base/errors.ts';
import { parseJson } from '../../base/json/parse.ts';
import type { Catalog } from '../catalog.ts';
import { parseImportRecord } from './import-record.ts';
import type { ImportRecord } from './import-record.ts';
import type { SourceRecord } from './record-splitter.ts';

export type ImportMode = {
  /** Whether a book whose id exists replaces the stored one; otherwise it is skipped. */
  readonly isReplacing: boolean;
  /** Whether everything is checked and reported as usual, but nothing is stored. */
  readonly isDryRun: boolean;
};

/** The result of one record. `line` is its line in the input, from 1. */
type RecordResult =
  | { readonly line: number; readonly status: 'imported' | 'replaced'; readonly id: string | null }
  | {
    readonly line: number; readonly status: 'skipped'; readonly id: string | null;
    readonly detail: string; readonly errors?: readonly FieldError[];
  };

/**
 * `imported` counts new and replaced books, `replaced` the latter alone. `skipped` counts all
 * others: existing, invalid, too large, refused by the store, not tried.
 */
type ImportCount = {
  readonly imported: number;
  readonly skipped: number;
  readonly replaced: number;
  readonly existing: number;
  readonly dryRun: boolean;
};

/** The detail of a record that is skipped because its id exists. */
export const ID_EXISTS = 'a book with this id exists';

/** The part of a catalog that the importer uses. */
export type ImportCatalog = Pick<Catalog, 'has' | 'importBatch'>;

type ParsedRecord = { readonly line: number; readonly record: ImportRecord };

/** An `ImportedBook`, but a dry run knows no id of a book that comes without one. */
type BookOutcome = {
  readonly id: string | null; readonly outcome: 'imported' | 'replaced' | 'exists';
};

export class Importer {
  readonly #catalog: ImportCatalog;
  readonly #mode: ImportMode;
  readonly #seenIds = new SeenIds();
  #imported = 0;
  #skipped = 0;
  #replaced = 0;
  #existing = 0;
  #failure: string | null = null;

  constructor(catalog: ImportCatalog, mode: ImportMode) {
    this.#catalog = catalog;
    this.#mode = mode;
  }

  get count(): ImportCount {
    return {
      imported: this.#imported, skipped: this.#skipped, replaced: this.#replaced,
      existing: this.#existing, dryRun: this.#mode.isDryRun,
    };
  }

  /** Why the store refused a batch; null while it has refused none. Nothing is tried after that. */
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

  /** The parsed record, or the line that says why it is skipped. */
  #parseRecord(source: SourceRecord): ParsedRecord | string {
    const { line } = source;
    try {
      if (source.problem !== undefined) throw new AppError('malformed', source.problem);
      if ('otherType' in source) throw new AppError('malformed', `${source.otherType} is no book`);
      const value = source.json === undefined ? source.body : parseJson(source.json);
      return { line, record: parseImportRecord(value) };
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      this.#skipped += 1;
      // A record is one line, so the parser's line number would only confuse.
      const detail = thrown.message.replace(' at line 1, column', ' at column');
      const { errors } = thrown.details;
      return encode({
        line, status: 'skipped', id: null, detail, ...errors === undefined ? {} : { errors },
      });
    }
  }

  /** Imports records in one transaction, or in several where they are too large for one. */
  async #importBatch(parsedRecords: readonly ParsedRecord[]): Promise<readonly string[]> {
    if (parsedRecords.length === 0) return [];
    if (this.#failure !== null) {
      return parsedRecords.map((record) => this.#reportRefusal(record, 'not tried'));
    }
    if (this.#mode.isDryRun) {
      return parsedRecords.map((record) => this.#reportResult(record, this.#predictResult(record)));
    }
    try {
      const records = parsedRecords.map(({ record }) => record);
      const books = await this.#catalog.importBatch(records, this.#mode.isReplacing);
      return parsedRecords.map((record, index) => this.#reportResult(record, books[index]));
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      if (thrown.code === 'too_large') return this.#importInHalves(parsedRecords, thrown.message);
      this.#failure ??= messageOf(thrown);
      return parsedRecords.map((record) => this.#reportRefusal(record, messageOf(thrown)));
    }
  }

  /** Imports records that are too large for one transaction; `detail` says so of a single one. */
  async #importInHalves(
    parsedRecords: readonly ParsedRecord[], detail: string,
  ): Promise<readonly string[]> {
    const [parsedRecord] = parsedRecords;
    if (parsedRecords.length === 1 && parsedRecord !== undefined) {
      this.#skipped += 1;
      const { line, record: { id } } = parsedRecord;
      return [encode({ line, status: 'skipped', id, detail })];
    }
    const half = Math.ceil(parsedRecords.length / 2);
    const firstLines = await this.#importBatch(parsedRecords.slice(0, half));
    return [...firstLines, ...await this.#importBatch(parsedRecords.slice(half))];
  }

  /** The outcome that the catalog would give: an id exists in it, or earlier in the dry run. */
  #predictResult({ record: { id } }: ParsedRecord): BookOutcome {
    if (id === null) return { id, outcome: 'imported' };
    const isTaken = this.#seenIds.add(id) || this.#catalog.has(id);
    if (!isTaken) return { id, outcome: 'imported' };
    return { id, outcome: this.#mode.isReplacing ? 'replaced' : 'exists' };
  }

  /** Counts the result and formats its line. `result` is defined: there is one for each record. */
  #reportResult({ line }: ParsedRecord, result: BookOutcome | undefined): string {
    assert(result !== undefined);
    const { id, outcome } = result;
    if (outcome === 'exists') {
      this.#skipped += 1;
      this.#existing += 1;
      return encode({ line, status: 'skipped', id, detail: ID_EXISTS });
    }
    this.#imported += 1;
    if (outcome === 'replaced') this.#replaced += 1;
    return encode({ line, status: outcome, id });
  }

  #reportRefusal({ line, record }: ParsedRecord, detail: string): string {
    this.#skipped += 1;
    return encode({ line, status: 'skipped', id: record.id, detail });
  }
}

function encode(result: RecordResult): string {
  return `${JSON.stringify(result)}\n`;
}

// Some 30 MB. A larger set would hold the event loop for over 20 ms each time it grows.
const IDS_MAX = 250_000;

/** The ids that a dry run of an import has met: it stores no books that could be looked up. */
export class SeenIds {
  readonly #ids = new Set<string>();

  /** Adds the id. Returns whether it was there; ids beyond the limit are not remembered. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return true;
    if (this.#ids.size < IDS_MAX) this.#ids.add(id);
    return false;
  }
}
