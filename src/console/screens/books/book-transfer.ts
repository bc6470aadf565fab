/** The screen that exports books as files of any format, and imports such files. */
import { getPage, sendRequest } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h } from '../../base/dom.ts';
import { formatQuantity } from '../../base/format.ts';
import {
  appendQuery, formatQuery, href, type Query, type ScreenAddress,
} from '../../base/screen-address.ts';
import { asyncButton } from '../../parts/async-button.ts';
import { backLink, heading } from '../../parts/facts.ts';
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
    const { total } = await getPage(appendQuery(BOOKS_PATH, { ...conditions, limit: '1' }), signal);
    fill(scope, `${formatQuantity(total ?? 0, 'book')} that the list shows – `,
      h('a', { href: href(['books', 'import']) }, 'export all'));
  };
  if (formatQuery(conditions) !== '') void count().catch(showFailureNotice);
  return [
    h('h2', 'Export'), scope,
    h('div.actions', {}, ...WRITTEN_FORMATS
      .map(({ name, title, endings: [ending = ''] }) => asyncButton(`Download ${title}`, () =>
        download(appendQuery(BOOKS_PATH, { ...query, format: name }), `books${ending}`, signal)))),
  ];
}

async function download(path: string, fileName: string, signal: AbortSignal): Promise<void> {
  const response = await sendRequest('GET', path, { signal });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const url = URL.createObjectURL(await response.blob());
  h('a', { href: url, download: fileName }).click();
  URL.revokeObjectURL(url);
}
