/** The groups of books that are in the catalog several times; each leads to their comparison. */
import { LatestCall } from '../../base/api-calls.ts';
import { href, type ScreenAddress } from '../../base/screen-address.ts';
import { fill, h } from '../../base/dom.ts';
import { formatQuantity, timeElement } from '../../base/format.ts';
import { backLink, heading } from '../../parts/screen.ts';
import { FilterForm } from '../../parts/lists/filter-form.ts';
import { VirtualRows, type RowColumn } from '../../parts/lists/virtual-rows.ts';
import { emptyState, showFailureIn } from '../../parts/notice.ts';
import { formatAuthors } from './book-view.ts';
import { openComparison } from './comparison-view.ts';
import { fetchGroups, type DuplicateGroup } from './duplicate-groups.ts';

/** So many groups are listed. When these are gone, the list begins with the next ones. */
const GROUPS_MAX = 1000;
/** So many books of a group are compared: all are in the address of the comparison. */
const BOOKS_MAX = 20;

/** A group as it stands in the list: the same books may be listed by another key, too. */
type GroupRow = DuplicateGroup & { readonly by: string };

const COLUMNS: readonly RowColumn<GroupRow>[] = [
  { title: 'Title', kind: 'main', cell: ({ books: [book] }) => book?.title ?? '' },
  { title: 'Authors', cell: ({ books: [book] }) => formatAuthors(book?.authors ?? []) },
  { title: 'Books', kind: 'number', cell: ({ books }) => String(books.length) },
  { title: 'ISBN', kind: 'extra', cell: ({ books: [book] }) => book?.isbn ?? '' },
  { title: 'Edition', kind: 'extra', cell: ({ books: [book] }) => book?.bookEdition ?? '' },
  {
    title: 'Changed', kind: 'short extra',
    cell: ({ books }) => timeElement(books.map(({ updatedAt }) => updatedAt).sort().at(-1)),
  },
];

/** `#/books/duplicates`, or, with the ids of the books of a group behind it, their comparison. */
export function openDuplicates(container: HTMLElement, address: ScreenAddress): () => void {
  const [, , ...ids] = address.path;
  return ids.length > 0 ? openComparison(container, ids) : openGroups(container, address);
}

function formatKey(by: string): string {
  return by === 'title' ? 'title and first author' : 'ISBN';
}

function openGroups(container: HTMLElement, { query }: ScreenAddress): () => void {
  const rows = new VirtualRows<GroupRow>({
    label: 'Duplicates', columns: COLUMNS,
    getKey: ({ books: [book] }) => book?.id ?? '',
    getHref: ({ books, by }) => href(
      ['books', 'duplicates', ...books.slice(0, BOOKS_MAX).map(({ id }) => id)], { by }),
  });
  const count = h('p.count', { role: 'status' });
  /** What the other key finds. */
  const others = h('p.count', { role: 'status' });
  const table = h('div');
  const call = new LatestCall();
  const read = async (): Promise<void> => {
    const signal = call.begin();
    const { by = 'isbn' } = filters.readQuery();
    count.textContent = 'Loading…';
    fill(others);
    try {
      const { groups, hasMore } = await fetchGroups(by, GROUPS_MAX, signal);
      const quantity = formatQuantity(groups.length, 'group');
      count.textContent = hasMore ? `The first ${quantity}; there are more.` : quantity;
      fill(table, groups.length > 0 ? rows.element : emptyState(by === 'isbn'
        ? 'No two books have the same ISBN.'
        : 'No two books have the same title and first author.', null));
      rows.set(groups.map(({ books }) => ({ books, by })));
      await showOthers(by === 'isbn' ? 'title' : 'isbn', signal);
    } catch (thrown) {
      if (signal.aborted) return;
      count.textContent = '';
      showFailureIn(table, thrown, () => void read());
    }
  };
  const showOthers = async (by: string, signal: AbortSignal): Promise<void> => {
    const { groups: { length }, hasMore } = await fetchGroups(by, GROUPS_MAX, signal);
    if (length === 0) return;
    fill(others, `By ${formatKey(by)} there ${length === 1 && !hasMore ? 'is' : 'are'} ${
      hasMore ? 'more than ' : ''}${
      formatQuantity(length, 'group')}: `, h('button.inline', {
      onclick: () => filters.set({ by: by === 'isbn' ? '' : by }),
    }, 'show these'));
  };
  const filters = new FilterForm([
    { name: 'by', label: 'The same', values: ['title'], noneLabel: formatKey('isbn'),
      formatLabel: formatKey },
  ], query, () => void read());
  fill(container, backLink('books', 'Books'), heading('Duplicates'),
    h('p', 'Books that are in the catalog several times. Those of different editions are not.'),
    filters.element, count, others, table);
  void read();
  return () => {
    call.abort();
    rows.close();
  };
}
