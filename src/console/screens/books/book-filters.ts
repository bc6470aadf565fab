/**
 * The filters of the list of books, the facets by whose values books are chosen, and buttons that
 * take chosen values away.
 */
import { valueLabels } from '../../base/book-labels.ts';
import { fill, h } from '../../base/dom.ts';
import { formatStars } from '../../base/format.ts';
import type { Query } from '../../base/screen-address.ts';
import { sortFilter, type FilterForm, type FilterSpec } from '../../parts/lists/filter-form.ts';
import { facetFilters, sortLabels } from './book-choices.ts';

type ChosenFilter = { readonly label: string; readonly remove: () => void };

/** A facet whose value is a span: it filters by both ends, one span at a time. */
type SpanFacet = {
  readonly label: string;
  readonly from: string;
  readonly to: string;
  /** The values that `from` takes from the facet. */
  readonly values: RegExp;
  readonly findEnd: (value: string) => string;
  readonly format: (value: string) => string;
};

const SPAN_FACETS: Readonly<Record<string, SpanFacet | undefined>> = {
  decade: {
    label: 'Decade', from: 'publishedFrom', to: 'publishedTo', values: /^\d{3}0$/,
    findEnd: (decade) => `${decade.slice(0, -1)}9`, format: (decade) => `${decade}s`,
  },
  rating: {
    label: 'Rating', from: 'ratingFrom', to: 'ratingTo', values: /^[0-5]$/,
    findEnd: (stars) => stars === '5' ? '5' : `${stars}.75`,
    format: (stars) => stars === '0' ? 'less than ★' : formatStars(+stars),
  },
  // A month is such a span, too.
  finishedYear: {
    label: 'Finished', from: 'finishedFrom', to: 'finishedTo', values: /^\d{4}(-\d{2})?$/,
    findEnd: (year) => year, format: (year) => year,
  },
};

/** Where the words of the search are looked for; without such words the API refuses it. */
export const SEARCH_PLACE = 'in';

/** How the list is sorted until a person says otherwise; the API's default is the oldest first. */
export const DEFAULT_SORT = '-id';

export const BOOK_FILTERS: readonly FilterSpec[] = [
  { name: 'q', label: 'Search', isSearch: true },
  { ...sortFilter({ id: 'oldest first', ...sortLabels }), noneLabel: 'newest first' },
  { name: 'as', label: 'Show as', values: ['cards'], noneLabel: 'table', isPaired: true },
  ...facetFilters,
  yesNoFilter('owned', 'Owned'), yesNoFilter('hasIsbn', 'ISBN'),
  {
    name: SEARCH_PLACE, label: 'Search in', values: ['review', 'metadata'],
    noneLabel: 'titles, names, keywords',
    formatLabel: (value) => value === 'review' ? 'reviews' : 'other data',
  },
  { name: 'typos', label: 'Typing mistakes', isHidden: true },
];

function yesNoFilter(name: string, label: string): FilterSpec {
  return {
    name, label, values: ['true', 'false'], formatLabel: (value) => value === 'true' ? 'yes' : 'no',
  };
}

/** `AudiobookFormat` reads `Audiobook`, and the decade `1960` reads `1960s`. */
export function formatFacetValue(facet: string, value: string): string {
  return SPAN_FACETS[facet]?.format(value) ?? valueLabels[facet]?.[value] ?? value;
}

export function isValueChosen(filters: FilterForm, facet: string, value: string): boolean {
  const span = SPAN_FACETS[facet];
  return span === undefined ? filters.has(facet, value) : findSpan(filters, span) === value;
}

/** Filters the list by a value of a facet, or no longer where it does. */
export function toggleValue(filters: FilterForm, facet: string, value: string): void {
  const span = SPAN_FACETS[facet];
  if (span === undefined) return filters.toggle(facet, value);
  const { from, to, findEnd } = span;
  filters.set(findSpan(filters, span) === value ? { [from]: '', [to]: '' }
    : { [from]: value, [to]: findEnd(value) });
}

/** The conditions of the list that meet the books of a value of a facet. */
export function findConditions(facet: string, value: string): Query {
  const span = SPAN_FACETS[facet];
  return span === undefined ? { [facet]: value }
    : { [span.from]: value, [span.to]: span.findEnd(value) };
}

/** The element of `showChosenFilters`. */
export function chosenFiltersElement(): HTMLElement {
  return h('ul.chips', { 'aria-label': 'Chosen filters' });
}

/** Shows the filters that stand in no field of the form, with buttons to remove them. */
export function showChosenFilters(element: HTMLElement, filters: FilterForm): void {
  const chips = listChosenFilters(filters).map(({ label, remove }, index) => h('li',
    h('button.chip', { 'aria-label': `Remove ${label}`, onclick: () => {
      remove();
      // The focus goes to the next filter, else to the last, else to the search.
      const buttons = element.querySelectorAll('button');
      (buttons[index] ?? buttons[buttons.length - 1] ?? filters.findField('q'))?.focus();
    } }, label, h('span', { 'aria-hidden': true }, ' ✕'))));
  fill(element, ...chips);
  element.hidden = chips.length === 0;
}

function listChosenFilters(filters: FilterForm): readonly ChosenFilter[] {
  const values = filters.listChosen().filter(({ filter }) => filter.isAnyOf === true)
    .map(({ filter: { name, label }, value }) => ({
      label: `${label}: ${formatFacetValue(name, value)}`,
      remove: () => filters.toggle(name, value),
    }));
  const spans = Object.entries(SPAN_FACETS).flatMap(([facet, span]) => {
    const value = span === undefined ? null : findSpan(filters, span);
    return span === undefined || value === null ? [] : [{
      label: `${span.label}: ${span.format(value)}`,
      remove: () => toggleValue(filters, facet, value),
    }];
  });
  return [...values, ...spans];
}

/** The value between whose ends the list is; null where these are no value of the facet. */
function findSpan(filters: FilterForm, { from, to, values, findEnd }: SpanFacet): string | null {
  const { [from]: value = '', [to]: end } = filters.readQuery();
  return values.test(value) && end === findEnd(value) ? value : null;
}
