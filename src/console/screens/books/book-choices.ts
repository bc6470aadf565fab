/**
 * The facets, filters and sort keys of the list of books, and the members that a column of a csv
 * can hold: from the rows that the server has of them. The build runs this module and puts the JSON
 * of its exports in its place (.ci/computed-data.mjs).
 */
import { FACETS, VALUE_ROWS, WORDS_ROWS } from '../../../books/query/conditions.ts';
import { SORT_ROWS } from '../../../books/query/sort-keys.ts';
import { CSV_COLUMNS } from '../../../books/transfer/csv-columns.ts';

const CONDITIONS = [...WORDS_ROWS, ...VALUE_ROWS];

export const bookFacets = FACETS.map(({ name, title }) => ({ name, title }));

/** Rows of the filters of the list (parts/lists/filter-form.ts). */
export const facetFilters = FACETS.flatMap((facet) =>
  CONDITIONS.filter((row) => row.facet === facet.name)
    .map(({ name, label = name, schema }) => ({
      name, label, isAnyOf: schema.kind === 'array',
      // The end of a range stands beside its beginning.
      isPaired: name.endsWith('To'),
      // A condition with few values has no field: they are chosen from the facet.
      isHidden: schema.kind === 'array' && 'values' in schema.items,
    })));

export const sortLabels: Readonly<Record<string, string>> =
  Object.fromEntries(Object.entries(SORT_ROWS).flatMap(([key, { labels = [] }]) =>
    labels.map((label, index) => [index === 0 ? key : `-${key}`, label])));

export const columnNames: readonly string[] = CSV_COLUMNS;
