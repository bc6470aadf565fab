/**
 * Imports records in batches and reports the result of each as a line of JSON. It does not know
 * where the records come from or where the lines go.
 */
import { AppError, messageOf } from '../../base/errors.ts';
import type { FieldError } from '../../base/errors.ts';
import { parseJson } from '../../base/json/parse.ts';
import type { Catalog, Imported } from '../catalog.ts';
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

/** `imported` includes `replaced`; `skipped` includes `existing` and invalid records. */
type ImportCount = {
  readonly imported: number;
  readonly skipped: number;
  readonly replaced: number;
  readonly existing: number;
  readonly dryRun: boolean;
};

/** The detail of a record that is skipped because its id exists. */
export const ID_EXISTS = 'a book with this id exists';

type Read = { readonly line: number; readonly record: ImportRecord };

export class Importer {
  readonly #catalog: Catalog;
  readonly #mode: ImportMode;
  readonly #seen = new SeenIds();
  #imported = 0;
  #skipped = 0;
  #replaced = 0;
  #existing = 0;
  #failure: string | null = null;

  constructor(catalog: Catalog, mode: ImportMode) {
    this.#catalog = catalog;
    this.#mode = mode;
  }

  get count(): ImportCount {
    return {
      imported: this.#imported, skipped: this.#skipped, replaced: this.#replaced,
      existing: this.#existing, dryRun: this.#mode.isDryRun,
    };
  }

  /** Why the store refused a batch; null while it accepts them. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Imports records in one transaction. Returns the lines of their results, in their order. */
  async run(records: readonly SourceRecord[]): Promise<string> {
    const lines: string[] = [];
    const reads: Read[] = [];
    const places: number[] = [];
    for (const record of records) {
      const read = this.#read(record);
      if (typeof read === 'string') {
        lines.push(read);
      } else {
        places.push(lines.length);
        reads.push(read);
        lines.push('');
      }
    }
    const results = await this.#store(reads);
    for (const [index, place] of places.entries()) lines[place] = results[index] ?? '';
    return lines.join('');
  }

  /** The parsed record, or the line that says why it is skipped. */
  #read(source: SourceRecord): Read | string {
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

  async #store(reads: readonly Read[]): Promise<readonly string[]> {
    if (reads.length === 0) return [];
    if (this.#failure !== null) return reads.map((read) => this.#refused(read, 'not tried'));
    if (this.#mode.isDryRun) return reads.map((read) => this.#tell(read, this.#tryOut(read)));
    try {
      const records = reads.map(({ record }) => record);
      const imported = await this.#catalog.importBatch(records, this.#mode.isReplacing);
      return reads.map((read, index) => this.#tell(read, imported[index]));
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      if (thrown.code === 'too_large') return this.#storeApart(reads, thrown.message);
      this.#failure ??= messageOf(thrown);
      return reads.map((read) => this.#refused(read, messageOf(thrown)));
    }
  }

  /** What is too much for one transaction, in smaller ones. */
  async #storeApart(reads: readonly Read[], detail: string): Promise<readonly string[]> {
    const [read] = reads;
    if (reads.length === 1 && read !== undefined) {
      this.#skipped += 1;
      return [encode({ line: read.line, status: 'skipped', id: read.record.id, detail })];
    }
    const half = Math.ceil(reads.length / 2);
    const first = await this.#store(reads.slice(0, half));
    return [...first, ...await this.#store(reads.slice(half))];
  }

  #tryOut({ record: { id } }: Read): { id: string | null; outcome: Imported['outcome'] } {
    if (id === null) return { id, outcome: 'imported' };
    const isTaken = this.#seen.add(id) || this.#catalog.has(id);
    if (!isTaken) return { id, outcome: 'imported' };
    return { id, outcome: this.#mode.isReplacing ? 'replaced' : 'exists' };
  }

  #tell(
    { line }: Read, result: { id: string | null; outcome: Imported['outcome'] } | undefined,
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

  #refused({ line, record }: Read, detail: string): string {
    this.#skipped += 1;
    return encode({ line, status: 'skipped', id: record.id, detail });
  }
}

function encode(result: ImportResult): string {
  return `${JSON.stringify(result)}\n`;
}
