/** The view of one book, and the forms that add or change one. */
import { encodeJson } from '../../base/json-text.ts';
import { callApi } from '../../base/api-calls.ts';
import { fill, h, link, type Child } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import { loadModel } from '../../base/model-schema.ts';
import { callerSession } from '../../base/caller-session.ts';
import { editRecord } from '../../parts/forms/edit-record.ts';
import { backLink, factList, heading } from '../../parts/facts.ts';
import { formatLabel } from '../../parts/forms/input-field.ts';
import { recordForm } from '../../parts/forms/record-form.ts';
import { showNotice } from '../../parts/notice.ts';
import { goIfStillHere, openView } from '../../parts/screen.ts';
import { asyncButton } from '../../parts/async-button.ts';
import type { Author, Book } from '../../../books/book.ts';
import { bookPath, deleteBook } from './delete-book.ts';

const HIDDEN = ['id', 'createdAt', 'updatedAt', 'title', 'authors'];

export function openBook(container: HTMLElement, id: string): () => void {
  return openView(container, async (refresh) => {
    const { body, headers } = await callApi<Book>('GET', bookPath(id));
    render(container, body, headers.get('ETag') ?? '', refresh);
  });
}

function render(
  container: HTMLElement, book: Book, etag: string, refresh: () => Promise<void>,
): void {
  const edit = asyncButton('Edit', async () => editRecord(container, {
    title: `Edit ${book.title}`, path: bookPath(book.id), schema: await loadModel('BookBody'),
    record: book, etag, onDone: refresh,
  }));
  const remove = asyncButton('Delete', async () => {
    if (await deleteBook(book, etag, refresh)) goIfStillHere(container, ['books']);
  }, 'danger');
  const others = Object.entries(book).filter(([name]) => !HIDDEN.includes(name));
  fill(container,
    backLink('books', 'Books'),
    heading(book.title, ...callerSession.may('write') ? [edit, remove] : []),
    factList([
      ['Authors', book.authors.length === 0 ? '–' : h('ul.plain-list',
        ...book.authors.map(renderAuthor))],
      ...others.map(([name, value]) => [formatLabel(name), renderValue(value)] as const),
      ['Added', timeElement(book.createdAt)], ['Changed', timeElement(book.updatedAt)],
      ['Id', h('code', book.id)],
    ]));
}

function renderAuthor({ name, url, birthDate, deathDate, address = {} }: Author): HTMLElement {
  const years = birthDate === undefined && deathDate === undefined ? []
    : [`${birthDate ?? ''}–${deathDate ?? ''}`];
  return h('li', url === undefined ? name : link(url, name),
    h('span.hint', ` ${[...years, ...Object.values(address)].join(', ')}`));
}

function renderValue(value: unknown): Child {
  if (typeof value === 'string') return /^https?:/.test(value) ? link(value, value) : value;
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? h('pre', encodeJson(value, 2)) : String(value);
}

export function formatAuthors(authors: Book['authors']): string {
  return authors.map(({ name }) => name).join(', ');
}

export function openNewBook(container: HTMLElement): () => void {
  return openView(container, () => showNew(container));
}

async function showNew(container: HTMLElement): Promise<void> {
  const form = recordForm({
    schema: await loadModel('BookBody'), value: {}, action: 'Add the book',
    save: async (value) => {
      const { body } = await callApi<Book>('POST', '/api/books', { body: value });
      showNotice(`Added ${body.title}.`);
      goIfStillHere(container, ['books', body.id]);
    },
  });
  fill(container, backLink('books', 'Books'), heading('A new book'), form.element);
  form.element.querySelector<HTMLElement>('[name="title"]')?.focus();
}
