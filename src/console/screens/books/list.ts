/** The catalog: search as you type, filters, pages; one book; a new one. */
import type { ScreenAddress } from '../../base/address.ts';
import { href } from '../../base/address.ts';
import { fill, h } from '../../base/dom.ts';
import { session } from '../../base/session.ts';
import { heading } from '../../parts/facts.ts';
import { Filters, pathWith } from '../../parts/lists/filters.ts';
import { emptyState } from '../../parts/notice.ts';
import { PagedList } from '../../parts/lists/paged.ts';
import type { Screen } from '../../parts/screen.ts';
import { openBook, openNewBook } from './one.ts';
import type { Book } from '../../../books/book.ts';
import { openTransfer } from './transfer.ts';

const PAGE = 200;
const SORTS: Readonly<Record<string, string>> = {
  title: 'title, A to Z', '-title': 'title, Z to A', datePublished: 'published, oldest first',
  '-datePublished': 'published, newest first', '-updatedAt': 'changed last', '-id': 'added last',
};

export const booksScreen: Screen = {
  name: 'books', title: 'Books', key: 'b',
  open(place, address) {
    const [, step] = address.path;
    if (step === undefined) return openList(place, address);
    if (step === 'new') return openNewBook(place);
    return step === 'import' ? openTransfer(place) : openBook(place, step);
  },
};

function openList(place: HTMLElement, { query }: ScreenAddress): () => void {
  const list = new PagedList<Book>({
    label: 'Books', nouns: ['book', 'books'],
    keyOf: ({ id }) => id,
    hrefOf: ({ id }) => href(['books', id]),
    columns: [
      { title: 'Title', kind: 'main', cell: ({ title }) => title },
      { title: 'Authors', cell: ({ authors }) => authorsOf(authors) },
      { title: 'Published', kind: 'number', cell: ({ datePublished }) => datePublished ?? '' },
      { title: 'Language', kind: 'extra', cell: ({ inLanguage }) => inLanguage ?? '' },
      { title: 'ISBN', kind: 'extra', cell: ({ isbn }) => isbn ?? '' },
    ],
    empty: () => filters.isSet ? emptyState('No book matches.', null)
      : emptyState('There are no books yet. Add one, or import the sample:',
        'hookshelf book:import --sample'),
  });
  const read = (): void => {
    const { as, ...asked } = filters.query();
    list.element.classList.toggle('as-cards', as === 'cards');
    void list.read(pathWith('/api/books', { limit: String(PAGE), ...asked }));
  };
  const filters = new Filters([
    { name: 'q', label: 'Search' }, { name: 'author', label: 'Author' },
    { name: 'keyword', label: 'Keyword' }, { name: 'inLanguage', label: 'Language' },
    { name: 'publishedFrom', label: 'Published from' },
    { name: 'publishedTo', label: 'Published to' },
    { name: 'sort', label: 'Sort', values: Object.keys(SORTS), none: 'added first',
      labelOf: (value) => SORTS[value] ?? value },
    { name: 'as', label: 'Show as', values: ['cards'], none: 'table' },
  ], query, read);
  fill(place, heading('Books', ...actions()), filters.element, list.element);
  read();
  return () => list.close();
}

function actions(): HTMLElement[] {
  const exports = h('a', { href: href(['books', 'import']), class: 'button' },
    session.may('write') ? 'Import and export' : 'Export');
  return session.may('write') ? [
    exports, h('a', { href: href(['books', 'new']), class: 'button primary' }, 'Add a book'),
  ] : [exports];
}

function authorsOf(authors: Book['authors']): string {
  return authors.map(({ name }) => name).join(', ');
}
