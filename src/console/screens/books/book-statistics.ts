/** The screen that counts the books that were read: by year, rating and so on, with filters. */
import { LatestCall, getJson } from '../../base/api-calls.ts';
import { callerSession } from '../../base/caller-session.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { formatLabel } from '../../base/field-problem.ts';
import { formatCount, formatQuantity, formatValue } from '../../base/format.ts';
import {
  appendQuery, href, type Query, type ScreenAddress,
} from '../../base/screen-address.ts';
import { asyncButton } from '../../parts/buttons.ts';
import { backLink, heading } from '../../parts/screen.ts';
import { sum } from '../../parts/chart.ts';
import { FilterForm, type FilterSpec } from '../../parts/lists/filter-form.ts';
import { emptyState, showFailureIn } from '../../parts/notice.ts';
import { stackedTable } from '../../parts/tables.ts';
import { BookFacets } from './book-facets.ts';
import {
  BOOK_FILTERS, chosenFiltersElement, findConditions, formatFacetValue, showChosenFilters,
} from './book-filters.ts';
import { setAllRead } from './change-books.ts';

type BookStatistics = {
  readonly by: string;
  readonly total: number;
  readonly rows: readonly {
    /** null: the books have none. */
    readonly value: string | null;
    readonly books: number;
    readonly pages: number;
    /** null: no book is rated. */
    readonly meanRating: number | null;
  }[];
};

type Counting = {
  readonly label: string;
  /** The facet whose values these are; without it the list cannot be asked for the same books. */
  readonly facet?: string;
};

/** By the API's values of `by`; the first is the default. */
const COUNTINGS: Readonly<Record<string, Counting>> = {
  year: { label: 'year', facet: 'finishedYear' },
  month: { label: 'month', facet: 'finishedYear' },
  status: { label: 'status', facet: 'status' },
  rating: { label: 'rating', facet: 'rating' },
  // The filter for a language finds its dialects, too.
  language: { label: 'language' },
  decade: { label: 'decade published', facet: 'decade' },
};
/** By it all books are counted, and by the others those that are read. */
const STATUS = 'status';
const [DEFAULT = '', ...OTHERS] = Object.keys(COUNTINGS);
/** The longest bar. */
const BAR_REM = 12;

const FILTERS: readonly FilterSpec[] = [
  {
    name: 'by', label: 'Count by', values: OTHERS, noneLabel: formatCounting(DEFAULT),
    formatLabel: formatCounting,
  },
  ...BOOK_FILTERS.filter(({ name }) => name !== 'sort' && name !== 'as' && name !== 'typos'),
];

function formatCounting(by: string): string {
  return COUNTINGS[by]?.label ?? by;
}

/** `#/books/statistics`, of the books that meet the filters in the address. */
export function openBookStatistics(
  container: HTMLElement, { query }: ScreenAddress,
): () => void {
  const content = h('div');
  const call = new LatestCall();
  const read = async (): Promise<void> => {
    const signal = call.begin();
    const { by = DEFAULT, ...conditions } = filters.readAll();
    showChosenFilters(chosenFilters, filters);
    facets.showChosen();
    facets.read(conditions);
    back.replaceChildren(backLink('books', 'Books', conditions));
    content.setAttribute('aria-busy', 'true');
    try {
      const count = (counting: string): Promise<BookStatistics> => getJson(
        appendQuery('/api/books/statistics', { by: counting, ...conditions }), signal);
      const [statistics, ofAll] =
        await Promise.all([count(String(by)), by === STATUS ? null : count(STATUS)]);
      const statusless = ofAll?.rows.find(({ value }) => value === null)?.books ?? 0;
      fill(content, ...renderStatistics(statistics, conditions),
        noteStatusless(statusless, conditions, () => void read()));
    } catch (thrown) {
      if (signal.aborted) return;
      showFailureIn(content, thrown, () => void read());
    }
    content.removeAttribute('aria-busy');
  };
  const filters = new FilterForm(FILTERS, query, () => void read());
  const facets = new BookFacets(filters);
  const chosenFilters = chosenFiltersElement();
  const back = h('div');
  fill(container, back, heading('Statistics of books'), filters.element,
    h('div.browse', facets.element, h('div', chosenFilters, content)));
  void read();
  return () => {
    call.abort();
    facets.close();
  };
}

function renderStatistics(
  { by, total, rows }: BookStatistics, conditions: Query,
): readonly HTMLElement[] {
  const isOfRead = by !== STATUS;
  const note = isOfRead ? h('p.hint', 'Books whose status is “Read” are counted here. ',
    h('a', { href: href(['books', 'statistics'], { ...conditions, by: STATUS }) },
      'Count all by status')) : h('p.hint');
  if (total === 0) {
    return [note,
      emptyState(isOfRead ? 'No book that matches is read.' : 'No book matches.', null)];
  }
  const most = Math.max(...rows.map(({ books }) => books));
  return [
    note,
    h('p.count', { role: 'status' }, `${formatQuantity(total, 'book')}${isOfRead ? ' read' : ''}, ${
      formatQuantity(sum(rows.map(({ pages }) => pages)), 'page')}`),
    stackedTable([formatLabel(formatCounting(by)), 'Books', 'Pages', 'Mean rating'],
      rows.map(({ value, books, pages, meanRating }) => {
        const bar = h('span', { 'aria-hidden': true });
        bar.style.width = `${books / most * BAR_REM}rem`;
        return [
          renderValue(by, value, isOfRead ? { ...conditions, status: 'read' } : conditions),
          h('span.amount', bar, formatCount(books)),
          pages === 0 ? '–' : formatCount(pages),
          formatValue(meanRating),
        ];
      })),
  ];
}

/** Says that books are not counted for want of a status, and offers to set it. null: none is. */
function noteStatusless(
  count: number, conditions: Query, onChanged: () => void,
): HTMLElement | null {
  if (count === 0) return null;
  const verbs = count === 1 ? 'has no status, and is' : 'have no status, and are';
  const note: HTMLElement = h('div',
    h('p', `${formatQuantity(count, 'book')} that ${count === 1 ? 'matches' : 'match'} ${
      verbs} not counted.`),
    callerSession.may('write')
      ? asyncButton('Set all to “Read”…', () => setAllRead(note, conditions, onChanged)) : null);
  return note;
}

function renderValue(by: string, value: string | null, conditions: Query): Child {
  if (value === null) return 'not known';
  const facet = COUNTINGS[by]?.facet;
  if (facet === undefined) return value;
  return h('a', { href: href(['books'], { ...conditions, ...findConditions(facet, value) }) },
    formatFacetValue(facet, value));
}
