/** The screen of the catalog: search as you type, facets and other filters, sorting, pages. */
import { callerSession } from '../../base/caller-session.ts';
import { fill, h, type Child } from '../../base/dom.ts';
import { timeElement } from '../../base/format.ts';
import {
  appendQuery, formatQuery, href, type Query, type ScreenAddress,
} from '../../base/screen-address.ts';
import { codeBlock } from '../../parts/code-block.ts';
import { FilterForm } from '../../parts/lists/filter-form.ts';
import { PagedList } from '../../parts/lists/paged-list.ts';
import type { RowColumn } from '../../parts/lists/virtual-rows.ts';
import { emptyState } from '../../parts/notice.ts';
import { heading, linkButton, openForm } from '../../parts/screen.ts';
import type { Book } from '../../../books/book.ts';
import { BookFacets } from './book-facets.ts';
import {
  BOOK_FILTERS, DEFAULT_SORT, SEARCH_PLACE, chosenFiltersElement, showChosenFilters,
} from './book-filters.ts';
import { openNewBook } from './book-form.ts';
import { cover, readingMark } from './book-marks.ts';
import { openBookStatistics } from './book-statistics.ts';
import { openTransfer } from './book-transfer.ts';
import { formatAuthors, formatSeries, openBook, openBookEditor } from './book-view.ts';
import { ChosenBooks } from './change-books.ts';
import { openDuplicates } from './duplicates-screen.ts';
import {
  correctText, joinCorrections, parseCorrections, type SearchCorrection,
} from './search-corrections.ts';
import { SearchSuggestions } from './search-suggestions.ts';

type ListedBook = Pick<Book,
  'id' | 'title' | 'authors' | 'series' | 'image' | 'reading' | 'datePublished' | 'isbn'
  | 'updatedAt'>;

const PAGE_SIZE = 200;
/** Values of the filter `typos`: the search corrects typing mistakes unless that is off. */
const CORRECT_TYPOS = '';
const TYPOS_OFF = 'off';
const FIELDS: readonly (keyof ListedBook)[] =
  ['title', 'authors', 'series', 'image', 'reading', 'datePublished', 'isbn', 'updatedAt'];

const COLUMNS: readonly RowColumn<ListedBook>[] = [
  {
    title: 'Title', kind: 'main', sortKey: 'title',
    cell: (book) => h('span.with-cover', cover(book),
      h('span', { title: book.title }, book.title, ...seriesPlace(book.series))),
  },
  {
    title: 'Authors', kind: 'middle', sortKey: 'author',
    cell({ authors }) {
      const title = formatAuthors(authors);
      return h('span.authors', { title }, title);
    },
  },
  {
    title: 'Published', kind: 'number', sortKey: 'datePublished',
    cell: ({ datePublished }) => datePublished ?? '',
  },
  {
    title: 'Reading', kind: 'middle', sortKey: 'rating',
    cell: ({ reading = {} }) => readingMark(reading),
  },
  { title: 'ISBN', kind: 'isbn extra', cell: ({ isbn }) => isbn ?? '' },
  {
    title: 'Changed', kind: 'short extra', sortKey: 'updatedAt',
    cell: ({ updatedAt }) => timeElement(updatedAt),
  },
];

/** The series below the title. */
function seriesPlace(series: Book['series'] = []): readonly Child[] {
  return series.length === 0 ? [] : [' ', h('span.place', formatSeries(series))];
}

export function openBooksScreen(container: HTMLElement, address: ScreenAddress): () => void {
  const [, step, form] = address.path;
  if (step === undefined) return openList(container, address);
  if (step === 'new') return openForm(container, 'write', 'add books', openNewBook);
  if (step === 'statistics') return openBookStatistics(container, address);
  if (step === 'duplicates') return openDuplicates(container, address);
  if (step === 'import') return openTransfer(container, address);
  return form === 'edit' ? openBookEditor(container, step) : openBook(container, step);
}

function openList(container: HTMLElement, { query }: ScreenAddress): () => void {
  const list = new CatalogList(query);
  fill(container, heading('Books', ...list.actions), ...list.elements);
  list.read();
  return () => list.close();
}

/** The list with all that searches, filters and sorts it. */
class CatalogList {
  readonly elements: readonly HTMLElement[];
  readonly actions: readonly HTMLElement[];
  readonly #transferLink = h('a.button',
    callerSession.may('write') ? 'Import and export' : 'Export');
  readonly #statisticsLink = h('a.button', 'Statistics');
  readonly #filters: FilterForm;
  readonly #suggestions: SearchSuggestions | null;
  readonly #facets: BookFacets;
  readonly #chosenFilters = chosenFiltersElement();
  /** null: the token may not change books. */
  readonly #chosenBooks: ChosenBooks | null;
  readonly #list: PagedList<ListedBook>;
  /** The query of the list, which changes with the filters. */
  #query: Query;

  constructor(query: URLSearchParams) {
    this.#filters = new FilterForm(BOOK_FILTERS, query, () => this.read());
    this.#query = this.#filters.readAll();
    this.#suggestions =
      suggestInto(this.#filters.findField('q'), (q) => this.#filters.set({ q }));
    this.#facets = new BookFacets(this.#filters);
    const rows = h('div');
    const chosenBooks = callerSession.may('write')
      ? new ChosenBooks(rows, () => ({ sort: DEFAULT_SORT, ...this.#criteria() }),
        () => this.read()) : null;
    this.#chosenBooks = chosenBooks;
    this.#list = new PagedList<ListedBook>({
      label: 'Books', screen: 'books', nouns: ['book', 'books'],
      columns: chosenBooks === null ? COLUMNS : [chosenBooks.column, ...COLUMNS],
      getKey: ({ id }) => id,
      empty: () => this.#isFiltered ? emptyState('No book matches.', null) : emptyCatalog(),
      onSort: (sort) => this.#filters.set({ sort }),
      renderNote: (headers) => {
        const corrections = parseCorrections(headers.get('X-Search-Corrected'));
        const isEmpty = headers.get('X-Total-Count') === '0';
        this.#showControls(!isEmpty || this.#isFiltered);
        this.#readFacets(corrections);
        return this.#renderNote(corrections, isEmpty);
      },
    });
    fill(rows, this.#list.element);
    this.elements = [this.#filters.element, h('div.browse', this.#facets.element,
      h('div', this.#chosenFilters, chosenBooks?.element ?? null, rows))];
    this.actions = [
      this.#statisticsLink,
      linkButton('Duplicates', ['books', 'duplicates']),
      this.#transferLink,
      ...callerSession.may('write')
        ? [linkButton('Add a book', ['books', 'new'], { style: 'primary' })] : [],
    ];
  }

  close(): void {
    this.#suggestions?.close();
    this.#facets.close();
    this.#chosenBooks?.close();
    this.#list.close();
  }

  read(): void {
    const previousText = readText(this.#query);
    this.#query = this.#filters.readAll();
    const { as: layout } = this.#query;
    const criteria = this.#criteria();
    // The user refused corrections of the previous text: a new text is corrected again.
    if (readText(criteria) !== previousText && criteria['typos'] !== undefined) {
      return this.#filters.set({ typos: CORRECT_TYPOS });
    }
    this.#chosenBooks?.showFor(criteria);
    this.#transferLink.href = href(['books', 'import'], criteria);
    this.#statisticsLink.href = href(['books', 'statistics'], this.#conditions());
    showChosenFilters(this.#chosenFilters, this.#filters);
    this.#facets.showChosen();
    this.#list.element.classList.toggle('as-cards', layout === 'cards');
    this.#list.showSort(this.#filters.readQuery()['sort'] ?? '');
    void this.#list.read(appendQuery('/api/books',
      { limit: String(PAGE_SIZE), fields: FIELDS.join(), sort: DEFAULT_SORT, ...criteria }));
  }

  /** The query of the list, without its layout, and without the place of words that it lacks. */
  #criteria(): Query {
    const { as, ...criteria } = this.#query;
    return readText(criteria) === '' ? { ...criteria, [SEARCH_PLACE]: '' } : criteria;
  }

  /** The criteria that choose books, without their order and how the search text is read. */
  #conditions(): Query {
    const { sort, typos, ...conditions } = this.#criteria();
    return conditions;
  }

  get #isFiltered(): boolean {
    return formatQuery(this.#conditions()) !== '';
  }

  /** An empty catalog has nothing to filter or to choose. */
  #showControls(areShown: boolean): void {
    for (const element of [this.#filters, this.#facets, this.#chosenBooks]
      .map((part) => part?.element)) element?.toggleAttribute('hidden', !areShown);
  }

  /** The server corrects the text for the list alone, so the facets get it corrected. */
  #readFacets(corrections: readonly SearchCorrection[]): void {
    const conditions = this.#conditions();
    this.#facets.read({ ...conditions, q: correctText(readText(conditions), corrections) });
  }

  #renderNote(corrections: readonly SearchCorrection[], isEmpty: boolean): Child {
    const text = readText(this.#query);
    if (this.#query['typos'] !== undefined && text !== '') {
      return h('p.note', 'Searched for ', h('em', text), ' as it is – ', h('button.inline', {
        onclick: () => this.#searchAgain(CORRECT_TYPOS),
      }, 'correct typing mistakes'));
    }
    // A correction that finds nothing helps nobody.
    if (corrections.length === 0 || isEmpty) return null;
    const correctedText = correctText(text, corrections);
    // The text is unchanged if the server has corrected words of the filter `author` alone.
    const [typed, searched] = correctedText === text ? joinCorrections(corrections)
      : [text, correctedText];
    return h('p.note', 'Showing results for ', h('em', searched), ' – ', h('button.inline', {
      onclick: () => this.#searchAgain(TYPOS_OFF),
    }, 'search instead for ', h('em', typed)));
  }

  #searchAgain(typos: string): void {
    this.#filters.set({ typos });
    // The new list replaces the note, with the button that has the focus.
    this.#filters.findField('q')?.focus();
  }
}

function emptyCatalog(): HTMLElement {
  if (!callerSession.may('write')) return emptyState('There are no books yet.', null);
  return emptyState('There are no books yet.', null,
    h('div.actions',
      linkButton('Import your file', ['books', 'import'], { style: 'primary' }),
      linkButton('Add a book', ['books', 'new'])),
    h('p', 'Files of Goodreads, StoryGraph, LibraryThing, Calibre and others will do. For a try, a '
      + 'command imports a sample:'),
    codeBlock('hookshelf book:import --sample'));
}

function readText({ q = '' }: Query): string {
  return [q].flat().join('');
}

/** Puts the list of suggestions below the field of the search. */
function suggestInto(
  field: HTMLElement | undefined, onChoose: (text: string) => void,
): SearchSuggestions | null {
  if (!(field instanceof HTMLInputElement)) return null;
  const suggestions = new SearchSuggestions(field, onChoose);
  const label = field.parentElement;
  const place = h('div.filter.suggesting');
  label?.replaceWith(place);
  fill(place, label, suggestions.element);
  return suggestions;
}
