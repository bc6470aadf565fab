/** The filters of the list of books, and the facets by whose values books are chosen. */
import { sortFilter, type FilterForm, type FilterSpec } from '../../parts/lists/filter-form.ts';
import { facetFilters, sortLabels, valueLabels } from './book-labels.ts';

/** A value that filters the list, and the function that takes it away. */
type ChosenFilter = { readonly label: string; readonly remove: () => void };

// This facet filters by both ends of a time; any other one by the condition of its own name.
const DECADE = 'decade';

export const BOOK_FILTERS: readonly FilterSpec[] = [
  { name: 'q', label: 'Search', isSearch: true },
  sortFilter({ ...sortLabels, '-id': 'added last' }),
  { name: 'as', label: 'Show as', values: ['cards'], noneLabel: 'table', isPaired: true },
  ...facetFilters,
  { name: 'typos', label: 'Typing mistakes', isHidden: true },
];

/** `AudiobookFormat` reads `Audiobook`, and the decade `1960` reads `1960s`. */
export function formatFacetValue(facet: string, value: string): string {
  return facet === DECADE ? `${value}s` : valueLabels[facet]?.[value] ?? value;
}

export function isValueChosen(filters: FilterForm, facet: string, value: string): boolean {
  return facet === DECADE ? findDecade(filters) === value : filters.has(facet, value);
}

/** Filters the list by a value of a facet, or no longer where it does. One decade at a time. */
export function toggleValue(filters: FilterForm, facet: string, value: string): void {
  if (facet !== DECADE) return filters.toggle(facet, value);
  filters.set(findDecade(filters) === value ? { publishedFrom: '', publishedTo: '' }
    : { publishedFrom: value, publishedTo: lastYearOf(value) });
}

/** What is chosen beyond the fields of the form; each is taken away by itself. */
export function listChosenFilters(filters: FilterForm): readonly ChosenFilter[] {
  const chosen = filters.listChosen().filter(({ filter }) => filter.isAnyOf === true)
    .map(({ filter: { name, label }, value }) => ({
      label: `${label}: ${formatFacetValue(name, value)}`,
      remove: () => filters.toggle(name, value),
    }));
  const decade = findDecade(filters);
  return decade === null ? chosen : [...chosen, {
    label: `Decade: ${formatFacetValue(DECADE, decade)}`,
    remove: () => toggleValue(filters, DECADE, decade),
  }];
}

/** The first year of the decade between whose years the list is; null where it is another time. */
function findDecade(filters: FilterForm): string | null {
  const { publishedFrom = '', publishedTo = '' } = filters.readQuery();
  return /^\d{3}0$/.test(publishedFrom) && publishedTo === lastYearOf(publishedFrom)
    ? publishedFrom : null;
}

function lastYearOf(decade: string): string {
  return `${decade.slice(0, -1)}9`;
}
