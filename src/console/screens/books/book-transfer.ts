/** The screen that exports books as files of any format, and imports such files. */
import { countItems } from '../../base/api-calls.ts';
import { downloadFile } from '../../base/file-transfer.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h } from '../../base/dom.ts';
import { formatQuantity } from '../../base/format.ts';
import {
  appendQuery, formatQuery, href, type Query, type ScreenAddress,
} from '../../base/screen-address.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { backLink, heading } from '../../parts/screen.ts';
import { showFailureNotice } from '../../parts/notice.ts';
import { BOOK_FILTERS } from './book-filters.ts';
import { BookImportForm } from './book-import-form.ts';
import { WRITTEN_FORMATS } from '../../../books/transfer/format-list.ts';

const BOOKS_PATH = '/api/books';

/** What is exported: the books that the list shows, in its order. `query` is that of the list. */
export function openTransfer(container: HTMLElement, { query }: ScreenAddress): () => void {
  const controller = new AbortController();
  const chosen = chooseFilters(query);
  const mayWrite = callerSession.may('write');
  fill(container, backLink('books', 'Books', chosen),
    heading(mayWrite ? 'Import and export' : 'Export'),
    ...exportSection(chosen, controller.signal),
    ...mayWrite ? [h('h2', 'Import'), new BookImportForm(controller.signal).element] : []);
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
      .map(({ name, title, endings: [ending = ''] }) => asyncButton(`Download ${title}`, () =>
        downloadFile(appendQuery(BOOKS_PATH, { ...query, format: name }), `books${ending}`,
          signal)))),
  ];
}
