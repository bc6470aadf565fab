/**
 * The labels of the members of a book and their values, and those of the facets, conditions and
 * sort keys of the list of books: from the rows that the server has of them. The build runs this
 * module and puts the JSON of its exports in its place (.ci/computed-data.mjs), so that the page
 * has no more of it.
 */
import type { MemberSchema, Schema } from '../../base/schema.ts';
import { bookSchema } from '../../books/book.ts';
import { FACETS, VALUE_ROWS, WORDS_ROWS } from '../../books/query/conditions.ts';
import { SORT_ROWS } from '../../books/query/sort-keys.ts';

const CONDITIONS = [...WORDS_ROWS, ...VALUE_ROWS];
const MEMBERS = listMembers(bookSchema);

/** The labels of members whose names do not say it, by path: `authors.address.addressCountry`. */
export const memberLabels: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  MEMBERS.flatMap(([path, { label }]) => label === undefined ? [] : [[path, label]]));

/** The labels of values, by the name of the member, which is that of its facet. */
export const valueLabels: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> =
  Object.fromEntries(MEMBERS.flatMap(([path, { form }]) => form?.choices === undefined ? []
    : [[path.split('.').at(-1), Object.fromEntries(form.choices)]]));

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

/** Every member with its path, in which lists have no positions. */
function listMembers(schema: Schema, path = ''): readonly (readonly [string, MemberSchema])[] {
  if (schema.kind === 'array') return listMembers(schema.items, path);
  if (schema.kind !== 'object') return [];
  return Object.entries(schema.members).flatMap(([name, member]) => {
    const memberPath = path === '' ? name : `${path}.${name}`;
    return [[memberPath, member] as const, ...listMembers(member.schema, memberPath)];
  });
}
