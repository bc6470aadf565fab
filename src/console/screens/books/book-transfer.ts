/**
 * The screen that exports books as files of any format, and imports such files. The server reads a
 * file: its beginning is sent as soon as it is chosen, to be shown (file-preview.ts), and all of it
 * when the button is pressed.
 */
import {
  LatestCall, countItems, fetchResponse, getJson, hasStatus, messageOf,
} from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { createSelect, fill, h } from '../../base/dom.ts';
import { downloadFile } from '../../base/file-transfer.ts';
import { formatCount, formatQuantity } from '../../base/format.ts';
import {
  appendQuery, formatQuery, href, type Query, type ScreenAddress,
} from '../../base/screen-address.ts';
import { asyncButton, runInert } from '../../parts/buttons.ts';
import { inputField } from '../../parts/forms/input-field.ts';
import { asyncForm, submitButton } from '../../parts/forms/record-form.ts';
import { showFailureNotice } from '../../parts/notice.ts';
import { backLink, heading } from '../../parts/screen.ts';
import { FORMATS, WRITTEN_FORMATS } from '../../../books/transfer/format-list.ts';
import type { ServiceStatus } from '../../../monitoring/monitoring-schema.ts';
import { BOOK_FILTERS } from './book-filters.ts';
import { deleteBooks } from './change-books.ts';
import { FilePreview, HEAD_BYTES } from './file-preview.ts';
import {
  findMediaType, formatOutcome, formatSkipped, formatSource, listRemarks, parseOutcome,
  type ImportOutcome,
} from './import-outcome.ts';

const BOOKS_PATH = '/api/books';
const IMPORT_PATH = '/api/books/import';
const PROBLEMS_SHOWN_MAX = 200;
/** The server is asked so often during an import how far it is. */
const COUNT_MS = 1000;
/** The values of `match` and `onMatch`; an empty one is the server's default. `update` is named. */
const MATCHES: readonly (readonly [value: string, label: string])[] = [
  ['', 'the id of its source, if any; ISBN in a list of ISBNs'], ['isbn', 'ISBN'],
  ['title', 'title, first author and year'],
  ['isbn,title', 'ISBN, else title, first author and year'], ['source', 'the id of its source'],
];
const ON_MATCH: typeof MATCHES = [
  ['update', 'take what the file says'], ['fill', 'fill what is missing'],
  ['skip', 'leave them as they are'],
  ['replace', 'become what the file says, also by their id here'],
];
/** Matches the books of a file of which the catalog knows none by their ids. */
const BY_CONTENT = 'isbn,title';
/** The formats of a person's own tables, and of files from here; the others are of programs. */
const OWN_FORMATS = ['csv', 'json', 'jsonl'];
/** The charsets of files whose bytes do not tell it. */
const CHARSETS: typeof MATCHES = [
  ['', 'as its bytes say'], ['utf-16le', 'UTF-16'], ['utf-16be', 'UTF-16, big-endian'],
  ['windows-1250', 'Windows-1250, Central European'], ['windows-1251', 'Windows-1251, Cyrillic'],
  ['windows-1253', 'Windows-1253, Greek'], ['windows-1254', 'Windows-1254, Turkish'],
  ['macintosh', 'Macintosh'],
];
/** Files that are no text: the server tells by their bytes what to do with them. */
const BINARY_ENDING = /\.(xls[xm]?|ods|numbers|zip|gz|pdf)$/i;
/**
 * The server tells of each of so many records while the browser, which reads nothing before it has
 * sent all, has not read the first. It holds 8 MiB.
 */
const TOLD_RECORDS_MAX = 10_000;

/**
 * Exports the books that the list shows, in the order that was chosen there, else the oldest first.
 * `query` is that of the list.
 */
export function openTransfer(container: HTMLElement, { query }: ScreenAddress): () => void {
  const controller = new AbortController();
  const chosen = chooseFilters(query);
  const mayWrite = callerSession.may('write');
  fill(container, backLink('books', 'Books', chosen),
    heading(mayWrite ? 'Import and export' : 'Export'),
    ...mayWrite ? [h('h2', 'Import'), new BookImportForm(controller.signal).element] : [],
    ...exportSection(chosen, controller.signal));
  return () => controller.abort();
}

/** The filters and the order of the list, without how it is shown. */
function chooseFilters(query: URLSearchParams): Query {
  return Object.fromEntries(BOOK_FILTERS.filter(({ name }) => name !== 'as')
    .map(({ name }) => [name, query.getAll(name)]));
}

function exportSection(query: Query, signal: AbortSignal): HTMLElement[] {
  const { sort, ...conditions } = query;
  const scope = h('p', formatQuery(conditions) === ''
    ? 'All books, with all that is known of them.' : 'The books that match.');
  const count = async (): Promise<void> => {
    const total = await countItems(BOOKS_PATH, conditions, signal);
    fill(scope, `${formatQuantity(total, 'book')} that the list shows – `,
      h('a', { href: href(['books', 'import']) }, 'export all'));
  };
  if (formatQuery(conditions) !== '') void count().catch(showFailureNotice);
  return [
    h('h2', 'Export'), scope,
    h('div.actions', {}, ...WRITTEN_FORMATS
      .flatMap(({ name, title, endings: [ending = ''] }) => {
        const download = (label: string, options: Query = {}): HTMLElement =>
          asyncButton(`Download ${label}`, () => downloadFile(
            appendQuery(BOOKS_PATH, { ...query, format: name, ...options }), `books${ending}`,
            signal));
        return [download(title), ...name !== 'csv' ? []
          : [download('CSV for a spreadsheet', { spreadsheet: 'true' })]];
      })),
  ];
}

class BookImportForm {
  readonly element: HTMLFormElement;
  readonly #file = h('input', {
    type: 'file', accept: [...new Set(FORMATS.flatMap(({ endings }) => endings))].join(),
  });
  readonly #format = createSelect([
    ['', 'Recognise it'], ...FORMATS.map(({ name, title }) => [name, title] as const),
  ]);
  readonly #charset = createSelect(CHARSETS);
  readonly #match = createSelect(MATCHES);
  readonly #onMatch = createSelect(ON_MATCH);
  /** Whether a person has said how books are matched, and what becomes of them. */
  #isModeChosen = false;
  /** The number of records that a check has found in the file. */
  #checkedCount = Infinity;
  readonly #hasAllTypes = h('input', { type: 'checkbox' });
  readonly #isDry = h('input', { type: 'checkbox', checked: true });
  readonly #preview = new FilePreview(() => this.#look());
  readonly #report = h('div', { role: 'status' });
  /** Ends with the screen. */
  readonly #signal: AbortSignal;
  readonly #latestLook = new LatestCall();
  /** Resolves when the beginning of the chosen file is shown, and how its books are matched. */
  #looking: Promise<void> = Promise.resolve();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    const button = submitButton('Check');
    this.#isDry.addEventListener('change', () =>
      fill(button, this.#isDry.checked ? 'Check' : 'Import'));
    this.#file.addEventListener('change', () => {
      this.#preview.clear();
      this.#checkedCount = Infinity;
    });
    for (const select of [this.#match, this.#onMatch]) {
      select.addEventListener('change', () => {
        this.#isModeChosen = true;
      });
    }
    for (const input of [
      this.#file, this.#format, this.#charset, this.#match, this.#onMatch, this.#hasAllTypes,
    ]) {
      input.addEventListener('change', () => this.#look());
    }
    const fields = h('div.record',
      createField('file', 'A file of books, of any program', this.#file, this.#preview.source),
      createField('format', 'What it is', this.#format),
      createField('charset', 'Its encoding', this.#charset),
      createField('match', 'A book is the same by its id here, and by', this.#match),
      createField('on-match', 'Books that are here already', this.#onMatch),
      createField('all-types', 'Take articles and records of other types for books too',
        this.#hasAllTypes),
      createField('dry', 'Only check it: store nothing', this.#isDry));
    // The button at the end imports by the same fields.
    const importFile = (): Promise<void> =>
      runInert([fields, this.#preview.element], () => this.#import());
    this.element = asyncForm(button, importFile, fields,
      h('p.hint', 'An import fires no events: outgoing webhooks hear nothing of these books.'),
      // Below the button, which must not move when the server answers.
      h('div.actions', button), this.#report, this.#preview.element);
  }

  /** Shows what the server reads of the beginning of the chosen file. */
  #look(): void {
    fill(this.#report);
    this.#looking = this.#chooseMode(this.#latestLook.begin());
  }

  /**
   * Reads the beginning of the chosen file, and sets how its books are matched. A file whose books
   * have no ids that the catalog knows is matched by what it says, until a person says otherwise:
   * its books may be here from elsewhere.
   */
  async #chooseMode(signal: AbortSignal): Promise<void> {
    if (!this.#isModeChosen) this.#setMode('', 'update');
    const outcome = await this.#readBeginning(signal);
    if (outcome === null || this.#isModeChosen || !isNewToCatalog(outcome)) return;
    if (await countItems(BOOKS_PATH, {}, signal).catch(() => 0) === 0 || signal.aborted) return;
    this.#setMode(BY_CONTENT, 'update');
    const matched = await this.#readBeginning(signal);
    if (matched === null || !isOfAnotherProgram(matched)) return;
    this.#setMode(BY_CONTENT, 'fill');
    await this.#readBeginning(signal);
  }

  /** null: there is none, or it cannot be read. */
  async #readBeginning(signal: AbortSignal): Promise<ImportOutcome | null> {
    const file = this.#file.files?.[0];
    if (file === undefined) return null;
    const query = { ...this.#createQuery(), dryRun: 'true', verbose: 'true' };
    const response = this.#send(file, query, {
      raw: file.slice(0, HEAD_BYTES), signal: AbortSignal.any([signal, this.#signal]),
    });
    return this.#preview.show(response, file.size <= HEAD_BYTES, signal);
  }

  #setMode(match: string, onMatch: string): void {
    this.#match.value = match;
    this.#onMatch.value = onMatch;
  }

  /** How the file is to be read, and what becomes of its records. */
  #createQuery(): Query {
    return {
      format: this.#format.value, match: this.#match.value, onMatch: this.#onMatch.value,
      allTypes: this.#hasAllTypes.checked ? 'true' : '', column: this.#preview.columns,
    };
  }

  /** Throws what `fetchResponse` and `findContentType` throw. */
  async #send(
    file: File, query: Query, options: Parameters<typeof fetchResponse>[2],
  ): Promise<Response> {
    const headers = { 'Content-Type': this.#findContentType(file), ...options.headers };
    return fetchResponse('POST', appendQuery(IMPORT_PATH, query), { ...options, headers });
  }

  /** Throws Error where neither the form nor the name of the file tells its format. */
  #findContentType({ name }: File): string {
    // With a format the server does not look at the media type.
    const mediaType = findMediaType(BINARY_ENDING.test(name) ? '.csv' : name)
      ?? (this.#format.value === '' ? null : 'application/octet-stream');
    if (mediaType === null) throw new Error('The name of the file tells no format: choose one.');
    const charset = this.#charset.value;
    return charset === '' ? mediaType : `${mediaType}; charset=${charset}`;
  }

  /** The button that imports what was checked; null where nothing would be stored. */
  #offerImport({ count }: ImportOutcome): HTMLElement | null {
    const stored = count === null ? 0 : count.imported + count.updated;
    return stored === 0 ? null : h('p', h('button.primary', { onclick: () => {
      this.#isDry.click();
      this.element.requestSubmit();
    } }, `Import these ${formatCount(stored)}`));
  }

  async #import(): Promise<void> {
    const file = this.#file.files?.[0];
    if (file === undefined) return fill(this.#report, h('p.problem', 'Choose a file first.'));
    const isDry = this.#isDry.checked;
    const stop = new AbortController();
    const records = h('p');
    fill(this.#report, h('progress', { 'aria-label': 'Progress' }), records,
      h('button', { onclick: () => stop.abort() }, 'Stop'));
    let stopCounting = (): void => {};
    try {
      // The mode is not set before.
      await this.#looking;
      // The preview tells what an import would do, which now happens.
      if (!isDry) this.#preview.hideRecords();
      const query = { ...this.#createQuery(), dryRun: isDry ? 'true' : '' };
      stopCounting = await countRecords(records, isDry ? 'checked' : 'stored');
      const response = await this.#send(file, query, {
        raw: file, signal: AbortSignal.any([stop.signal, this.#signal]),
        headers: isDry || this.#checkedCount > TOLD_RECORDS_MAX
          ? { Prefer: 'return=minimal' } : {},
      });
      const outcome = parseOutcome(await response.text());
      if (isDry) this.#checkedCount = countChecked(outcome);
      fill(this.#report, ...describeOutcome(outcome),
        isDry ? this.#offerImport(outcome) : offerBooks(outcome));
    } catch (thrown) {
      const stopped = `Stopped.${isDry ? '' : ' What was read before is stored.'}`;
      const text = stop.signal.aborted ? stopped : explainFailure(thrown);
      fill(this.#report, h('p.problem', text));
    } finally {
      stopCounting();
      // The next file is checked first, too.
      if (!this.#isDry.checked) this.#isDry.click();
    }
  }
}

function isNewToCatalog({ count }: ImportOutcome): boolean {
  return count !== null && count.imported > 0 && count.updated + count.unchanged === 0;
}

/**
 * Whether values that others have said, or people, would give way to those of a program whose
 * earlier files are not known. A person's own table says what the person knows.
 */
function isOfAnotherProgram(outcome: ImportOutcome): boolean {
  return !OWN_FORMATS.includes(outcome.source?.format ?? '')
    && (isNewToCatalog(outcome) || outcome.count?.replacedMembers !== undefined);
}

function countChecked({ count }: ImportOutcome): number {
  return count === null ? Infinity
    : count.imported + count.updated + count.unchanged + count.skipped;
}

/** Leads to the books, and takes the new ones back. */
function offerBooks({ count, addedIds }: ImportOutcome): HTMLElement {
  const { imported = 0, updated = 0 } = count ?? {};
  const added = formatQuantity(imported, 'new book');
  const undo = addedIds.length === 0 ? [] : [
    asyncButton(`Undo: delete the ${added}`, () => deleteBooks(addedIds, () => {
      fill(line, h('a', { href: href(['books']) }, 'See the books'));
    })),
    updated === 0 ? null : h('span.hint', ` What it has changed in ${
      formatQuantity(updated, 'other book')} stays.`),
  ];
  const line = h('p', h('a', { href: href(['books']) },
    imported === 0 ? 'See the books' : `See the ${added}`), ' ', ...undo);
  return line;
}

function explainFailure(thrown: unknown): string {
  return hasStatus(thrown, 0) ? 'The file could not be sent: the server is away, or the file was '
    + 'changed after it had been chosen.' : messageOf(thrown);
}

/**
 * Says in `line` how many records the server has dealt with since now, until the result is called:
 * the import itself tells nothing before its end. Throws ApiError.
 */
async function countRecords(line: HTMLElement, verb: string): Promise<() => void> {
  const count = async (): Promise<number> =>
    (await getJson<ServiceStatus>('/api/status')).catalog.importedRecords;
  const before = await count();
  const timer = setInterval(() => {
    count().then((now) => {
      line.textContent = `${formatQuantity(now - before, 'record')} ${verb}.`;
      // The end of the import tells what is wrong.
    }, () => {});
  }, COUNT_MS);
  return () => clearInterval(timer);
}

function describeOutcome({ source, skippedRecords, count }: ImportOutcome): HTMLElement[] {
  if (count === null) throw new Error('The import was cut short.');
  const shownRecords = skippedRecords.slice(0, PROBLEMS_SHOWN_MAX);
  const hiddenCount = count.skipped - count.existing - shownRecords.length;
  return [
    h('p', source === null ? null : `${formatSource(source)}: `, formatOutcome(count)),
    ...listRemarks(count, source).map((remark) => h('p', remark)),
    ...shownRecords.length === 0 ? [] : [
      h('ol.log', { 'aria-label': 'What could not be imported' },
        ...shownRecords.map((record) => h('li', formatSkipped(record)))),
    ],
    ...hiddenCount <= 0 ? [] : [h('p', `and ${formatCount(hiddenCount)} more`)],
  ];
}

function createField(
  name: string, label: string, input: HTMLInputElement | HTMLSelectElement,
  ...below: readonly HTMLElement[]
): HTMLElement {
  return inputField({ name, label }, input, () => input.value, ...below).element;
}
