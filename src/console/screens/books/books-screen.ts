/** The screen of the catalog: search as you type, filters, pages. */
import type { ScreenAddress } from '../../base/screen-address.ts';
import { appendQuery, href } from '../../base/screen-address.ts';
import { fill, h } from '../../base/dom.ts';
import { callerSession } from '../../base/caller-session.ts';
import { heading } from '../../parts/facts.ts';
import { FilterForm } from '../../parts/lists/filter-form.ts';
import { emptyState } from '../../parts/notice.ts';
import { PagedList } from '../../parts/lists/paged-list.ts';
import { openBook, openNewBook } from './book-view.ts';
import type { Book } from '../../../books/book.ts';
import { openTransfer } from './book-transfer.ts';

const PAGE_SIZE = 200;
const SORTS: Readonly<Record<string, string>> = {
  title: 'title, A to Z', '-title': 'title, Z to A', datePublished: 'published, oldest first',
  '-datePublished': 'published, newest first', '-updatedAt': 'changed last', '-id': 'added last',
};

export function openBooksScreen(container: HTMLElement, address: ScreenAddress): () => void {
  const [, step] = address.path;
  if (step === undefined) return openList(container, address);
  if (step === 'new') return openNewBook(container);
  return step === 'import' ? openTransfer(container) : openBook(container, step);
}

function openList(container: HTMLElement, { query }: ScreenAddress): () => void {
  const list = new PagedList<Book>({
    label: 'Books', nouns: ['book', 'books'],
    getKey: ({ id }) => id,
    getHref: ({ id }) => href(['books', id]),
    columns: [
      { title: 'Title', kind: 'main', cell: ({ title }) => title },
      { title: 'Authors', cell: ({ authors }) => formatAuthors(authors) },
      { title: 'Published', kind: 'number', cell: ({ datePublished }) => datePublished ?? '' },
      { title: 'Language', kind: 'extra', cell: ({ inLanguage }) => inLanguage ?? '' },
      { title: 'ISBN', kind: 'extra', cell: ({ isbn }) => isbn ?? '' },
    ],
    empty: () => filters.isSet ? emptyState('No book matches.', null)
      : emptyState('There are no books yet. Add one, or import the sample:',
        'hookshelf book:import --sample'),
  });
  const read = (): void => {
    const { as: layout, ...criteria } = filters.readQuery();
    list.element.classList.toggle('as-cards', layout === 'cards');
    void list.read(appendQuery('/api/books', { limit: String(PAGE_SIZE), ...criteria }));
  };
  const filters = new FilterForm([
    { name: 'q', label: 'Search' }, { name: 'author', label: 'Author' },
    { name: 'keyword', label: 'Keyword' }, { name: 'inLanguage', label: 'Language' },
    { name: 'publishedFrom', label: 'Published from' },
    { name: 'publishedTo', label: 'Published to' },
    { name: 'sort', label: 'Sort', values: Object.keys(SORTS), noneLabel: 'added first',
      formatLabel: (value) => SORTS[value] ?? value },
    { name: 'as', label: 'Show as', values: ['cards'], noneLabel: 'table' },
  ], query, read);
  fill(container, heading('Books', ...actions()), filters.element, list.element);
  read();
  return () => list.close();
}

function actions(): HTMLElement[] {
  const exports = h('a', { href: href(['books', 'import']), class: 'button' },
    callerSession.may('write') ? 'Import and export' : 'Export');
  return callerSession.may('write') ? [
    exports, h('a', { href: href(['books', 'new']), class: 'button primary' }, 'Add a book'),
  ] : [exports];
}

function formatAuthors(authors: Book['authors']): string {
  return authors.map(({ name }) => name).join(', ');
}
