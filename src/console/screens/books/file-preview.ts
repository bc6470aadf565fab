/**
 * What the server reads of the beginning of a file that is to be imported: what the file is taken
 * for; what each column of a csv holds, which a person may change; and what would become of the
 * first records.
 */
import { ApiError, messageOf } from '../../base/api-calls.ts';
import { createSelect, fill, h } from '../../base/dom.ts';
import { formatPlace } from '../../base/field-problem.ts';
import { stackedTable } from '../../parts/tables.ts';
import type { FileColumns } from '../../../books/transfer/csv-columns.ts';
import { columnNames } from './book-choices.ts';
import {
  formatSource, parseOutcome, tabulateChecked, type ImportOutcome,
} from './import-outcome.ts';

/** The server tells a format by 64 KiB of text, for which UTF-16 takes twice as much. */
export const HEAD_BYTES: number = 128 * 1024;
const RECORDS_SHOWN_MAX = 10;
const OWN_PREFIX = 'metadata.';
const LEFT_OUT = 'none';

export class FilePreview {
  /** Has its room before it says anything, so that what is below does not move. */
  readonly source: HTMLElement = h('p.count', { role: 'status' });
  readonly element: HTMLElement;
  readonly #columns = h('div');
  readonly #records = h('div');
  readonly #selects = new Map<string, HTMLSelectElement>();
  /** What a person has said of columns, by their names. */
  readonly #chosenContents = new Map<string, string>();
  readonly #onChoice: () => void;

  /** `onChoice` is called when a person has said what a column holds. */
  constructor(onChoice: () => void) {
    this.#onChoice = onChoice;
    this.element = h('div', this.#columns, this.#records);
  }

  /** The values of the parameter `column` that say what a person has said. */
  get columns(): readonly string[] {
    return [...this.#chosenContents].map(([name, content]) => `${name}=${content}`);
  }

  /** Forgets what was said and shown of another file. */
  clear(): void {
    this.#chosenContents.clear();
    this.#showColumns({});
    fill(this.source);
    this.hideRecords();
  }

  hideRecords(): void {
    fill(this.#records);
  }

  /**
   * Shows the response to the beginning of a file, and resolves with it; `isWhole`: that is all of
   * the file. null: it cannot be read, or something else is to be shown by now.
   */
  async show(
    response: Promise<Response>, isWhole: boolean, signal: AbortSignal,
  ): Promise<ImportOutcome | null> {
    try {
      const outcome = parseOutcome(await (await response).text());
      const { source, records } = outcome;
      if (signal.aborted) return null;
      if (source === null) throw new Error('The server does not say what the file is.');
      fill(this.source, formatSource(source));
      this.#showColumns(source.columns ?? {});
      // The last one of a part of a file may be cut.
      const { titles, rows } = tabulateChecked(
        (isWhole ? records : records.slice(0, -1)).slice(0, RECORDS_SHOWN_MAX));
      fill(this.#records, ...rows.length === 0 ? [] : [
        h('h3', 'The first books'), stackedTable(titles, rows),
      ]);
      return outcome;
    } catch (thrown) {
      if (signal.aborted) return null;
      fill(this.source, messageOf(thrown));
      this.hideRecords();
      if (thrown instanceof ApiError) this.#showColumns(thrown.problem.columns ?? {});
      return null;
    }
  }

  #showColumns(columns: FileColumns): void {
    const names = Object.keys(columns);
    const isSame = names.length === this.#selects.size
      && names.every((name) => this.#selects.has(name));
    // The select that a person has just used keeps the focus.
    if (!isSame) this.#createSelects(names);
    for (const [name, select] of this.#selects) select.value = columns[name] ?? '';
  }

  #createSelects(names: readonly string[]): void {
    this.#selects.clear();
    for (const name of names) {
      const own = name.startsWith(OWN_PREFIX) ? name : OWN_PREFIX + name;
      const select = createSelect([
        [own, 'a column of your own'], [LEFT_OUT, 'leave it out'],
        ...columnNames.map((member) => [member, formatPlace(member.split('.'))] as const),
      ], own, { 'aria-label': `What “${name}” holds` });
      select.addEventListener('change', () => {
        this.#chosenContents.set(name, select.value);
        this.#onChoice();
      });
      this.#selects.set(name, select);
    }
    fill(this.#columns, ...names.length === 0 ? [] : [
      h('h3', 'What its columns hold'),
      stackedTable(['Column', 'What it holds'], [...this.#selects]),
    ]);
  }
}
