/**
 * Changes the books that are chosen in the list in one way, or deletes them: asks first, shows on
 * every screen how many are done, says how many were changed, and offers to take that back. Each
 * book is changed only as it was read. The page itself does the work, one book after another, so
 * that it ends with the page.
 */
import {
  ApiError, LatestCall, callApi, getPage, hasStatus, mayPass, messageOf, type ApiPage,
} from '../../base/api-calls.ts';
import { createSelect, fill, h } from '../../base/dom.ts';
import { formatCount, formatQuantity } from '../../base/format.ts';
import { encodeJson } from '../../base/json-text.ts';
import { apiPath, appendQuery, formatQuery, type Query } from '../../base/screen-address.ts';
import { asyncButton, runExclusively } from '../../parts/buttons.ts';
import { askToConfirm, commandDetails, openDialog } from '../../parts/dialog.ts';
import { inputField } from '../../parts/forms/input-field.ts';
import type { RowColumn } from '../../parts/lists/virtual-rows.ts';
import { showFailureNotice, showNotice, showProgress } from '../../parts/notice.ts';
import type { Book } from '../../../books/book.ts';
import { valueLabels } from '../../base/book-labels.ts';
import {
  addText, createOffers, patchMember, removeText, type ChangedMember,
} from './book-changes.ts';
import { RATING_CHOICES } from './book-marks.ts';
import { parseOutcome } from './import-outcome.ts';
import { fetchBook, type NamedBook, type StoredBook } from './stored-book.ts';

/** So many are chosen at once: all of them are read, changed and told one by one. */
const BOOKS_MAX = 10_000;
/** The page of a list holds no more. */
const PAGE_SIZE = 1000;
/** Chosen in place of a status or a rating, which nobody shall take away by choosing nothing. */
const NO_VALUE = 'none';
const STATUS_CHANGE: BulkChange = {
  label: 'Set their status', member: 'status', field: 'Status',
  choices: Object.entries(valueLabels['status'] ?? {}).filter(([value]) => value !== ''),
  edit: (_, status) => status === NO_VALUE ? undefined : status,
};
const CHANGES: readonly BulkChange[] = [
  { label: 'Put them on a shelf', member: 'shelves', field: 'Shelf', edit: addText },
  { label: 'Take them off a shelf', member: 'shelves', field: 'Shelf', edit: removeText },
  STATUS_CHANGE,
  {
    label: 'Rate them', member: 'rating', field: 'Rating',
    choices: RATING_CHOICES.slice(1),
    edit: (_, rating) => rating === NO_VALUE ? undefined : +rating,
  },
  { label: 'Add a keyword', member: 'keywords', field: 'Keyword', edit: addText },
  { label: 'Remove a keyword', member: 'keywords', field: 'Keyword', edit: removeText },
];
const DELETE = 'Delete them';
/** Titles that are named before they are deleted. */
const TITLES_MAX = 3;
/** Requests under way at once: a browser opens six connections to a server. */
const REQUESTS_MAX = 4;
/** A book that somebody else changes meanwhile is read again so often. */
const TRIES_MAX = 3;
/** Who has changed many books looks them through before it is too late. */
const UNDO_MS = 60_000;

/** What is chosen, and in which list: it stays while the user looks at one of the books. */
const choice = {
  /** The query of that list, without its order. */
  query: '',
  /** By the ids. */
  titles: new Map<string, string>(),
  /** Shows the list that was opened last as it is now. */
  showAgain: (): void => {},
};

export class ChosenBooks {
  readonly element: HTMLElement;
  readonly column: RowColumn<NamedBook> = {
    title: '', kind: 'box', cell: (book) => this.#createBox(book),
  };
  readonly #titles = choice.titles;
  readonly #call = new LatestCall();
  readonly #list: HTMLElement;
  readonly #readQuery: () => Query;
  readonly #count = h('span.count', { role: 'status' });
  readonly #all = h('input', { type: 'checkbox', onchange: () => {
    if (this.#all.checked) void this.#chooseAll().catch(showFailureNotice);
    else this.#clear();
  } });
  readonly #change = h('button', { onclick: () => this.#openDialog() }, 'Change them…');

  /**
   * `list` holds the rows; `readQuery` gives the query of the books that it shows. `onChanged` is
   * called when books were changed.
   */
  constructor(list: HTMLElement, readQuery: () => Query, onChanged: () => void) {
    this.#list = list;
    this.#readQuery = readQuery;
    choice.showAgain = () => {
      // The user may have left the screen meanwhile.
      if (this.element.isConnected) onChanged();
    };
    this.element = h('div.bulk',
      h('label.choice', this.#all, 'Choose all'), this.#count, this.#change);
    this.#show();
  }

  close(): void {
    this.#call.abort();
  }

  /** What is chosen in another list is forgotten; the order of a list makes it no other. */
  showFor(listQuery: Query): void {
    const query = formatQuery({ ...listQuery, sort: '' });
    if (query !== choice.query) this.#clear();
    choice.query = query;
    this.#show();
  }

  #clear(): void {
    this.#call.abort();
    this.#titles.clear();
    this.#show();
  }

  #createBox({ id, title }: NamedBook): HTMLElement {
    const box = h('input', { type: 'checkbox', 'aria-label': `Choose ${title}`, onchange: () => {
      this.#call.abort();
      if (box.checked) this.#titles.set(id, title);
      else this.#titles.delete(id);
      this.#all.checked = false;
      this.#showCount();
    } });
    box.checked = this.#titles.has(id);
    return box;
  }

  async #chooseAll(): Promise<void> {
    const { books, areAll } = await listBooks(this.#readQuery(), 'title', this.#call.begin());
    for (const { id, title } of books) this.#titles.set(id, title);
    if (!areAll) showNotice(`The first ${formatCount(books.length)} are chosen.`);
    this.#show();
  }

  #show(): void {
    for (const row of this.#list.querySelectorAll<HTMLElement>('tr[data-key]')) {
      const box = row.querySelector('input');
      if (box !== null) box.checked = this.#titles.has(row.dataset['key'] ?? '');
    }
    if (this.#titles.size === 0) this.#all.checked = false;
    this.#showCount();
  }

  #showCount(): void {
    this.#count.textContent =
      this.#titles.size === 0 ? '' : `${formatCount(this.#titles.size)} chosen`;
    this.#change.disabled = this.#titles.size === 0;
  }

  #openDialog(): void {
    const titles = new Map(this.#titles);
    openChangeDialog(titles, (work) => runExclusively([this.#change], () => work(() => {
      for (const id of titles.keys()) this.#titles.delete(id);
      choice.showAgain();
    })));
  }
}

type BookWithReading = NamedBook & Pick<Book, 'reading'>;

/** Lists the books with these fields, up to `BOOKS_MAX`. Throws ApiError. */
async function listBooks(
  query: Query, fields: string, signal?: AbortSignal,
): Promise<{ readonly books: readonly BookWithReading[]; readonly areAll: boolean }> {
  const books: BookWithReading[] = [];
  let path: string | null =
    appendQuery('/api/books', { ...query, limit: String(PAGE_SIZE), fields });
  while (path !== null && books.length < BOOKS_MAX) {
    const page: ApiPage<BookWithReading> = await getPage(path, signal);
    books.push(...page.items);
    path = page.next;
  }
  return { books, areAll: path === null };
}

/**
 * Asks, unless `place` has gone meanwhile, and sets the status of those of the books that have none
 * to “Read”. `onChanged` is called when books were changed, and again when that is taken back.
 * Throws ApiError.
 */
export async function setAllRead(
  place: HTMLElement, query: Query, onChanged: () => void,
): Promise<void> {
  const { books } = await listBooks(query, 'reading');
  if (!place.isConnected) return;
  const ids = books.filter(({ reading }) => reading?.status === undefined).map(({ id }) => id);
  const quantity = formatQuantity(ids.length, 'book');
  const isSure = await askToConfirm({
    title: `Set the status of ${quantity} to “Read”?`, action: `Change ${quantity}`,
    text: 'They count as read from then on, those without a finish date on a date that is not '
      + 'known. Books with a status keep it, and the change can be undone for a minute.',
  });
  if (isSure) await changeBooks(ids, STATUS_CHANGE, 'read', onChanged);
}

type BulkChange = {
  readonly label: string;
  readonly member: ChangedMember;
  /** The label of the field, which offers the choices, or takes a text. */
  readonly field: string;
  readonly choices?: readonly (readonly [value: string, label: string])[];
  /** The member's new value; undefined: none. `texts` are what a list has now. */
  readonly edit: (texts: readonly string[], value: string) => unknown;
};

/** Calls `onChanged` when books were changed, and again when that is taken back. */
type BulkWork = (onChanged: () => void) => Promise<void>;

/** `titles` are those of the books, by id. `start` gets the work that the user has chosen. */
function openChangeDialog(
  titles: ReadonlyMap<string, string>, start: (work: BulkWork) => Promise<void>,
): void {
  const quantity = formatQuantity(titles.size, 'book');
  const what = createSelect([...CHANGES.map(({ label }) => label), DELETE]
    .map((label) => [label, label]));
  what.addEventListener('change', () => show());
  const details = h('div.record');
  const submit = h('button', { type: 'submit' });
  let readWork = (): BulkWork => () => Promise.resolve();
  const show = (): void => {
    const change = CHANGES.find(({ label }) => label === what.value);
    submit.className = change === undefined ? 'danger' : 'primary';
    submit.textContent = `${change === undefined ? 'Delete' : 'Change'} ${quantity}`;
    if (change === undefined) {
      readWork = () => (onChanged) => deleteBooks([...titles.keys()], onChanged);
      return fill(details,
        h('p', `${nameBooks([...titles.values()])} will be gone from the catalog.`),
        commandDetails([...titles.keys()]
          .map((id) => `hookshelf book:delete ${id}`).join('\n')));
    }
    const input = change.choices === undefined
      ? h('input', { required: true, autocomplete: 'off' })
      : createSelect([['', '–'], ...change.choices, [NO_VALUE, 'none: take it away']], '',
        { required: true });
    readWork = () => {
      const value = input.value.trim();
      return (onChanged) => changeBooks([...titles.keys()], change, value, onChanged);
    };
    fill(details, inputField({ name: change.member, label: change.field }, input,
      () => input.value, createOffers(input, change.member)).element);
  };
  show();
  const dialog = openDialog(`Change ${quantity}`, [h('form.record', { onsubmit: (event) => {
    event.preventDefault();
    dialog.close();
    void start(readWork()).catch(showFailureNotice);
  } }, inputField({ name: 'what', label: 'What is done' }, what, () => what.value).element, details,
  h('div.actions', h('button', { onclick: () => dialog.close() }, 'Cancel'), submit))]);
}

/** `“Emma”, “Persuasion” and 10 more` */
function nameBooks(titles: readonly string[]): string {
  const names = titles.slice(0, TITLES_MAX).map((title) => `“${title}”`).join(', ');
  return titles.length > TITLES_MAX ? `${names} and ${titles.length - TITLES_MAX} more` : names;
}

async function changeBooks(
  ids: readonly string[], { member, edit }: BulkChange, value: string, onChanged: () => void,
): Promise<void> {
  const outcome = await runForEach('Changing books', ids, async (id) => {
    const { book, etag } = await readBook(id);
    const before = member === 'keywords' ? book.keywords : book.reading?.[member];
    const texts = Array.isArray(before) ? before : [];
    const after = edit(texts, value);
    if (after === texts || encodeJson(before) === encodeJson(after)) return null;
    return { id, before, etag: await patchMember(id, member, after, etag) };
  });
  tellOutcome('Changed', outcome, onChanged, async () => {
    const undoOutcome = await runForEach('Putting books back', outcome.done,
      async ({ id, before, etag }) => patchMember(id, member, before, etag), 1);
    return undoOutcome.done.length;
  });
}

/** Calls `onChanged` when books were deleted, and again when that is taken back. */
export async function deleteBooks(
  ids: readonly string[], onChanged: () => void,
): Promise<void> {
  const outcome = await runForEach('Deleting books', ids, async (id) => {
    const { book, etag } = await readBook(id);
    await callApi('DELETE', apiPath('books', id), { headers: { 'If-Match': etag } });
    return book;
  });
  tellOutcome('Deleted', outcome, onChanged, () => putBack(outcome.done));
}

/**
 * Resolves with the number of books that are put back. `restore` says so in events, as the deletion
 * was said. The server holds 2 MiB of deletions: the books of those before, of a thousand of 3 kB a
 * third, come back by an import, which keeps their ids and times, skips those whose place others
 * have taken, and fires no events.
 */
async function putBack(books: readonly Book[]): Promise<number> {
  const forgotten: Book[] = [];
  const { done } = await runForEach('Putting books back', books, async (book) => {
    try {
      return await callApi('POST', `${apiPath('books', book.id)}/restore`);
    } catch (thrown) {
      if (!hasStatus(thrown, 404)) throw thrown;
      forgotten.push(book);
      return null;
    }
  });
  if (forgotten.length === 0) return done.length;
  const importedCount = await importBooks(forgotten);
  if (importedCount > 0) {
    showNotice(`The server had let go of ${formatQuantity(importedCount, 'deletion')}: ${
      importedCount === 1 ? 'that book was' : 'those books were'
    } imported, and no receiver of events hears that ${
      importedCount === 1 ? 'it is' : 'they are'} back.`, 'bad', { ms: UNDO_MS });
  }
  return done.length + importedCount;
}

/** Resolves with the number of books that were not there. Throws ApiError. */
async function importBooks(books: readonly Book[]): Promise<number> {
  const { body } = await callApi<string>('POST', '/api/books/import?onMatch=skip', {
    raw: books.map((book) => encodeJson(book)).join('\n'),
    headers: { 'Content-Type': 'application/x-ndjson', Prefer: 'return=minimal' },
  });
  return parseOutcome(body).count?.imported ?? 0;
}

/** Throws ApiError, also for a book that is gone. */
async function readBook(id: string): Promise<StoredBook> {
  const book = await fetchBook(id);
  if (book !== null) return book;
  throw new ApiError({ status: 404, detail: 'it is deleted already' });
}

type BulkOutcome<Done> = {
  readonly done: readonly Done[];
  /** How many were so already. */
  readonly unchangedCount: number;
  /** How many the user has stopped it before. */
  readonly leftCount: number;
  /** Why each of the others was not changed. */
  readonly problems: readonly string[];
};

/**
 * Runs it for each item; null: there was nothing to do. What one book meets is a problem of that
 * book; where the server takes nothing, the books that are left are not tried. `verb` says on every
 * screen what is under way, with a button that stops it; whoever leaves the page is asked first.
 */
async function runForEach<Item, Done>(
  verb: string, items: readonly Item[], run: (item: Item) => Promise<Done | null>,
  triesMax = TRIES_MAX,
): Promise<BulkOutcome<Done>> {
  const waiting = [...items];
  let leftCount = 0;
  const progress = showProgress(() => {
    leftCount += waiting.splice(0).length;
  });
  const showDone = (doneCount: number): void => progress.show(
    `${verb}: ${formatCount(doneCount)} of ${formatCount(items.length)} done.`);
  const done: Done[] = [];
  const problems: string[] = [];
  let unchangedCount = 0;
  const runNext = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        const result = await runWhileChanged(item, run, triesMax);
        if (result === null) unchangedCount += 1;
        else done.push(result);
      } catch (thrown) {
        problems.push(messageOf(thrown));
        if (mayPass(thrown)) problems.push(...waiting.splice(0).map(() => messageOf(thrown)));
      }
      showDone(done.length + unchangedCount + problems.length);
    }
  };
  showDone(0);
  addEventListener('beforeunload', askBeforeLeaving);
  await Promise.all(Array.from({ length: REQUESTS_MAX }, runNext));
  removeEventListener('beforeunload', askBeforeLeaving);
  progress.close();
  return { done, unchangedCount, leftCount, problems };
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

async function runWhileChanged<Item, Done>(
  item: Item, run: (item: Item) => Promise<Done>, triesMax: number,
): Promise<Done> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run(item);
    } catch (thrown) {
      if (!hasStatus(thrown, 412) || tries >= triesMax) throw thrown;
    }
  }
}

/** `undo` resolves with the number of books that are as before. */
function tellOutcome<Done>(
  verb: string, { done, unchangedCount, leftCount, problems }: BulkOutcome<Done>,
  onChanged: () => void, undo: () => Promise<number>,
): void {
  const were = unchangedCount === 1 ? 'was' : 'were';
  const parts = [`${verb} ${formatQuantity(done.length, 'book')}`,
    ...unchangedCount === 0 ? [] : [`${unchangedCount} ${were} so already`],
    ...leftCount === 0 ? [] : [`stopped before ${formatCount(leftCount)} more`],
    ...problems.length === 0 ? [] : [`${problems.length} could not be: ${problems[0] ?? ''}`]];
  const button = asyncButton('Undo', async () => {
    const restoredCount = await undo();
    showNotice(formatRestored(restoredCount, done.length),
      restoredCount === done.length ? 'good' : 'bad');
    button.parentElement?.remove();
    onChanged();
  });
  onChanged();
  showNotice(`${parts.join('; ')}.`, problems.length === 0 ? 'good' : 'bad',
    { undo: done.length === 0 ? null : button, ms: UNDO_MS });
}

function formatRestored(restoredCount: number, count: number): string {
  const others = count - restoredCount;
  return `${formatQuantity(restoredCount, 'book')} ${restoredCount === 1 ? 'is' : 'are'} as before`
    + (others === 0 ? '.' : `; ${others} could not be put back: somebody has changed them, or `
      + 'others have taken their place.');
}
