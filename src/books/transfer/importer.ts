/**
 * Imports records in batches and reports the result of each as a line of JSON. It does not know
 * where the records come from or where the lines go.
 */
import { AppError, messageOf } from '../../base/errors.ts';
import type { FieldError } from '../../base/errors.ts';
import { parseJson } from '../../base/json/parse.ts';
import type { Catalog, ImportedBook } from '../catalog.ts';
import { parseImportRecord } from './import-record.ts';
import type { ImportRecord } from './import-record.ts';
import type { SourceRecord } from './record-splitter.ts';
import { SeenIds } from './seen-ids.ts';

export type ImportMode = {
  /** Whether a book whose id exists replaces the stored one; otherwise it is skipped. */
  readonly isReplacing: boolean;
  /** Whether everything is checked and answered as usual, but nothing is stored. */
  readonly isDryRun: boolean;
};

/** The result of one record. `line` is its line in the input, from 1. */
type ImportResult =
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

/** What the importer needs of a catalog. */
export type ImportCatalog = Pick<Catalog, 'has' | 'importBatch'>;

type ParsedRecord = { readonly line: number; readonly record: ImportRecord };

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

  /** Why the store refused a batch: from then on nothing more is tried. Null: it refused none. */
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
    const positions: number[] = [];
    for (const record of records) {
      const parsedRecord = this.#parseRecord(record);
      if (typeof parsedRecord === 'string') {
        lines.push(parsedRecord);
      } else {
        positions.push(lines.length);
        parsedRecords.push(parsedRecord);
        lines.push('');
      }
    }
    const results = await this.#store(parsedRecords);
    for (const [index, position] of positions.entries()) lines[position] = results[index] ?? '';
    return lines.join('');
  }

  /** The parsed record, or the line that says why it is skipped. */
  #parseRecord(source: SourceRecord): ParsedRecord | string {
    const { line } = source;
    try {
      if (source.problem !== undefined) throw new AppError('malformed', source.problem);
      return { line, record: parseImportRecord(parseJson(source.json)) };
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

  async #store(parsedRecords: readonly ParsedRecord[]): Promise<readonly string[]> {
    if (parsedRecords.length === 0) return [];
    if (this.#failure !== null) {
      return parsedRecords.map((record) => this.#reportRefusal(record, 'not tried'));
    }
    if (this.#mode.isDryRun) {
      return parsedRecords.map((record) => this.#reportResult(record, this.#predictResult(record)));
    }
    try {
      const records = parsedRecords.map(({ record }) => record);
      const imported = await this.#catalog.importBatch(records, this.#mode.isReplacing);
      return parsedRecords.map((record, index) => this.#reportResult(record, imported[index]));
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      if (thrown.code === 'too_large') return this.#storeApart(parsedRecords, thrown.message);
      this.#failure ??= messageOf(thrown);
      return parsedRecords.map((record) => this.#reportRefusal(record, messageOf(thrown)));
    }
  }

  /** Stores records that are too much for one transaction in smaller ones. */
  async #storeApart(
    parsedRecords: readonly ParsedRecord[], detail: string,
  ): Promise<readonly string[]> {
    const [parsedRecord] = parsedRecords;
    if (parsedRecords.length === 1 && parsedRecord !== undefined) {
      this.#skipped += 1;
      const { line, record: { id } } = parsedRecord;
      return [encode({ line, status: 'skipped', id, detail })];
    }
    const half = Math.ceil(parsedRecords.length / 2);
    const first = await this.#store(parsedRecords.slice(0, half));
    return [...first, ...await this.#store(parsedRecords.slice(half))];
  }

  #predictResult(
    { record: { id } }: ParsedRecord,
  ): { id: string | null; outcome: ImportedBook['outcome'] } {
    if (id === null) return { id, outcome: 'imported' };
    const isTaken = this.#seenIds.add(id) || this.#catalog.has(id);
    if (!isTaken) return { id, outcome: 'imported' };
    return { id, outcome: this.#mode.isReplacing ? 'replaced' : 'exists' };
  }

  #reportResult(
    { line }: ParsedRecord,
    result: { id: string | null; outcome: ImportedBook['outcome'] } | undefined,
  ): string {
    const { id = null, outcome = 'exists' } = result ?? {};
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

function encode(result: ImportResult): string {
  return `${JSON.stringify(result)}\n`;
}
