/** The view of one book. */
import { apiPath, href } from '../../base/screen-address.ts';
import { encodeJson } from '../../base/json-text.ts';
import { callApi } from '../../base/api-calls.ts';
import { fill, h, link, type Child } from '../../base/dom.ts';
import { findMemberLabel, formatPlace } from '../../base/field-problem.ts';
import { formatCount, timeElement } from '../../base/format.ts';
import { isGeneratedId } from '../../base/generated-id.ts';
import { loadModel } from '../../base/model-schema.ts';
import { callerSession } from '../../base/caller-session.ts';
import { openEditor } from '../../parts/forms/edit-record.ts';
import { factList, plainTable } from '../../parts/tables.ts';
import {
  backLink, goToList, heading, linkButton, openForm, openView,
} from '../../parts/screen.ts';
import { asyncButton } from '../../parts/buttons.ts';
import type { Author, Book, Series } from '../../../books/book.ts';
import { findFormatTitle } from '../../../books/transfer/format-list.ts';
import { BOOK_FIELDS, addBook } from './book-form.ts';
import { valueLabels } from '../../base/book-labels.ts';
import { cover, mayLoadImages, stars } from './book-marks.ts';
import { formatMember, isForPeople, isObject } from './member-text.ts';
import { readingControls } from './reading-controls.ts';
import { deleteBook, type StoredBook } from './stored-book.ts';

/** So many items of a list are shown, and the others on demand: merged ids may be a thousand. */
const ITEMS_MAX = 6;
/** The filter of the list that finds the other books with a value of the member. */
const LIST_FILTERS: Readonly<Record<string, string | undefined>> = {
  keywords: 'keyword', shelves: 'shelf',
};
const HIDDEN =
  ['id', 'createdAt', 'updatedAt', 'title', 'authors', 'series', 'reading', 'metadata'];

export function openBook(container: HTMLElement, id: string): () => void {
  return openView(container, async (refresh) => {
    const { body: book, etag } = await callApi<Book>('GET', apiPath('books', id));
    render(container, { book, etag }, refresh);
  });
}

export function openBookEditor(container: HTMLElement, id: string): () => void {
  return openForm(container, 'write', 'change books', () => openEditor(container, async () => {
    const [{ body: book, etag }, schema] = await Promise.all([
      callApi<Book>('GET', apiPath('books', id)), loadModel('BookBody'),
    ]);
    return {
      title: `Edit ${book.title}`, path: apiPath('books', id), address: ['books', id], schema,
      factories: BOOK_FIELDS, record: book, etag,
      saveAnew: (value) => addBook(container, value),
    };
  }));
}

function render(
  container: HTMLElement, stored: StoredBook, refresh: () => Promise<void>,
): void {
  const { book } = stored;
  const edit = linkButton('Edit', ['books', book.id, 'edit']);
  const remove = asyncButton('Delete', async () => {
    if (await deleteBook(stored, refresh)) goToList(container, 'books');
  }, 'danger');
  const mayChange = callerSession.may('write');
  const { authors, series = [], reading = {}, metadata } = book;
  const others = Object.entries(book).filter(([name]) => !HIDDEN.includes(name));
  fill(container,
    backLink('books', 'Books'),
    heading(book.title, ...mayChange ? [edit, remove] : []),
    mayChange && readingControls(container, stored, refresh),
    h('div.book', cover(book), factList([
      ['Authors', authors.length === 0 ? '–' : h('ul.plain-list', {},
        ...authors.map(renderAuthor))],
      ['Series', series.length > 0 && h('span', {}, ...separate(series.map((one) =>
        listLink('series', one.name, formatSeries([one])))))],
      ...Object.entries(reading).map(([name, value]) => renderFact(`reading.${name}`, name, value)),
      ...others.map(([name, value]) => renderFact(name, name, value)),
      ['Added', timeElement(book.createdAt)], ['Changed', timeElement(book.updatedAt)],
      ['Id', h('code', book.id)],
    ])),
    metadata === undefined ? null : h('section', h('h2', 'Other data'),
      plainTable(['Name', 'Value'], listValues(metadata)),
      h('details', h('summary', 'As JSON'), h('pre', encodeJson(metadata, 2)))));
}

/** The values in the book's metadata. */
function listValues(
  metadata: object, outerNames: readonly string[] = [],
): (readonly [name: string, text: string])[] {
  return Object.entries(metadata).filter(([name]) => isForPeople([name]))
    .flatMap(([name, value]) => {
      const names = [...outerNames, name];
      return isObject(value) ? listValues(value, names)
        : [[formatNames(names), formatMember([name], value)] as const];
    });
}

/**
 * Values of an import have the program, and the name that it has for them: `source.goodreads.Owner`
 * is `Goodreads: Owner`. A member of a book that the program, or somebody here, had said otherwise
 * is `Goodreads: Reading, review`, and one that a book had which was merged into this is `Merged
 * book: Reading, review`. All others have the names around them.
 */
function formatNames(names: readonly string[]): string {
  const [group, format = '', ...fields] = names;
  if (group !== 'source' || fields.length === 0) return names.join('.');
  const [field, ...members] = fields;
  const isMember = field === 'members' && members.length > 0;
  const name = isMember ? formatPlace(members.join('.').split('.')) : fields.join('.');
  return `${findSourceTitle(format)}: ${name}`;
}

/** The source of a merged book has the id of that. */
function findSourceTitle(source: string): string {
  if (source === 'here') return 'Set here';
  if (isGeneratedId(source)) return 'Merged book';
  return findFormatTitle(source).replace(/^an? | (export|catalog|reading log)$/g, '');
}

function renderAuthor({ name, url, birthDate, deathDate, address = {} }: Author): HTMLElement {
  const years = birthDate === undefined && deathDate === undefined ? []
    : [`${birthDate ?? ''}–${deathDate ?? ''}`];
  return h('li', listLink('author', name),
    url === undefined ? null : h('span', ' ', link(url, url)),
    h('span.hint', ` ${[...years, ...Object.values(address)].join(', ')}`));
}

/** `Earthsea #1.5` */
export function formatSeries(series: readonly Series[]): string {
  return series.map(({ name, position }) =>
    position === undefined ? name : `${name} #${position}`).join(', ');
}

function renderFact(
  path: string, name: string, value: unknown,
): readonly [label: string, content: Child] {
  return [findMemberLabel(path.split('.')), renderValue(name, value)];
}

function renderValue(name: string, value: unknown): Child {
  if (name === 'rating') return stars(Number(value));
  if (name === 'review' || name === 'description') return h('span.prose', String(value));
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (name === 'image') return renderImageLink(String(value));
  if (typeof value === 'string') {
    return /^https?:/.test(value) ? link(value, value) : valueLabels[name]?.[value] ?? value;
  }
  if (Array.isArray(value)) return renderList(name, value);
  return String(value);
}

function renderImageLink(image: string): HTMLElement {
  return h('span', link(image, image), mayLoadImages() ? null
    : h('span.hint', ' Not loaded: console.images is off.'));
}

function renderList(name: string, items: readonly unknown[]): HTMLElement {
  const filter = LIST_FILTERS[name];
  const contents = items.map((item): Child =>
    filter === undefined ? String(item) : listLink(filter, String(item)));
  const others = contents.slice(ITEMS_MAX);
  return h('div', {}, ...separate(contents.slice(0, ITEMS_MAX)), others.length === 0 ? null
    : h('details', h('summary', `${formatCount(others.length)} more`), ...separate(others)));
}

/** Leads to the books that have this value. */
function listLink(filter: string, value: string, text = value): HTMLElement {
  return h('a', { href: href(['books'], { [filter]: value }) }, text);
}

function separate(contents: readonly Child[]): readonly Child[] {
  return contents.flatMap((content, index) => index === 0 ? [content] : [', ', content]);
}

export function formatAuthors(authors: Book['authors']): string {
  return authors.map(({ name }) => name).join(', ');
}
