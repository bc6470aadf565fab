/** One book: its members, and the form that adds or changes it. */
import { ApiError, call } from '../../base/api.ts';
import { fill, h, link } from '../../base/dom.ts';
import type { Child } from '../../base/dom.ts';
import { time } from '../../base/format.ts';
import { model } from '../../base/schema.ts';
import { session } from '../../base/session.ts';
import { confirm } from '../../parts/dialog.ts';
import { editRecord } from '../../parts/forms/edit.ts';
import { backTo, facts, heading } from '../../parts/facts.ts';
import { labelOf } from '../../parts/forms/leaf.ts';
import { recordForm } from '../../parts/forms/form.ts';
import { tell } from '../../parts/notice.ts';
import { goFrom, openView } from '../../parts/screen.ts';
import { workButton } from '../../parts/work-button.ts';
import type { Author, Book } from '../../../books/book.ts';

const HIDDEN = ['id', 'createdAt', 'updatedAt', 'title', 'authors'];

export function openBook(place: HTMLElement, id: string): () => void {
  return openView(place, async (again) => {
    const { body, headers } = await call<Book>('GET', pathOf(id));
    render(place, body, headers.get('ETag') ?? '', again);
  });
}

function render(
  place: HTMLElement, book: Book, etag: string, again: () => Promise<void>,
): void {
  const edit = workButton('Edit', async () => editRecord(place, {
    title: `Edit ${book.title}`, path: pathOf(book.id), schema: await model('BookBody'),
    record: book, etag, done: again,
  }));
  const remove = workButton('Delete', () => removeBook(place, book, etag, again), 'danger');
  const others = Object.entries(book).filter(([name]) => !HIDDEN.includes(name));
  fill(place,
    backTo('books', 'Books'),
    heading(book.title, ...session.may('write') ? [edit, remove] : []),
    facts([
      ['Authors', book.authors.length === 0 ? '–' : h('ul', { class: 'plain-list' },
        ...book.authors.map(authorItem))],
      ...others.map(([name, value]) => [labelOf(name), valueOf(value)] as const),
      ['Added', time(book.createdAt)], ['Changed', time(book.updatedAt)],
      ['Id', h('code', {}, book.id)],
    ]));
}

function authorItem({ name, url, birthDate, deathDate, address = {} }: Author): HTMLElement {
  const years = birthDate === undefined && deathDate === undefined ? []
    : [`${birthDate ?? ''}–${deathDate ?? ''}`];
  return h('li', {}, url === undefined ? name : link(url, name),
    h('span', { class: 'hint' }, ` ${[...years, ...Object.values(address)].join(', ')}`));
}

function valueOf(value: unknown): Child {
  if (typeof value === 'string') return /^https?:/.test(value) ? link(value, value) : value;
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'object' ? h('pre', {}, JSON.stringify(value, null, 2)) : String(value);
}

export function openNewBook(place: HTMLElement): () => void {
  return openView(place, () => showNew(place));
}

async function showNew(place: HTMLElement): Promise<void> {
  const form = recordForm({
    schema: await model('BookBody'), value: {}, action: 'Add the book',
    save: async (value) => {
      const { body } = await call<Book>('POST', '/api/books', { body: value });
      tell(`Added ${body.title}.`);
      goFrom(place, ['books', body.id]);
    },
  });
  fill(place, backTo('books', 'Books'), heading('A new book'),
    form.element);
}

async function removeBook(
  place: HTMLElement, book: Book, etag: string, again: () => Promise<void>,
): Promise<void> {
  const isSure = await confirm({
    title: 'Delete the book?', text: `“${book.title}” will be gone from the catalog.`,
    action: 'Delete it', isDestructive: true, command: `hookshelf book:delete --id ${book.id}`,
  });
  if (!isSure) return;
  try {
    await call('DELETE', pathOf(book.id), { headers: { 'If-Match': etag } });
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status !== 412) throw thrown;
    tell('Somebody else has changed it. It stands here as it is now.', 'bad');
    return again();
  }
  tell(`Deleted ${book.title}.`);
  goFrom(place, ['books']);
}

function pathOf(id: string): string {
  return `/api/books/${encodeURIComponent(id)}`;
}
