/**
 * The labels of the members of a book and their values, from the server's schema. The build runs
 * this module and puts the JSON of its exports in its place (.ci/computed-data.mjs), so that the
 * page has no more of it.
 */
import type { MemberSchema, Schema } from '../../base/schema.ts';
import { bookSchema } from '../../books/book.ts';

const MEMBERS = listMembers(bookSchema);

/** The labels of members whose names do not say it, by path: `authors.address.addressCountry`. */
export const memberLabels: Readonly<Record<string, string | undefined>> = Object.fromEntries(
  MEMBERS.flatMap(([path, { label }]) => label === undefined ? [] : [[path, label]]));

/** The labels of values, by the name of the member, which is that of its facet. */
export const valueLabels: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> =
  Object.fromEntries(MEMBERS.flatMap(([path, { form }]) => form?.choices === undefined ? []
    : [[path.split('.').at(-1), Object.fromEntries(form.choices)]]));

/** Every member with its path, in which lists have no positions. */
function listMembers(schema: Schema, path = ''): readonly (readonly [string, MemberSchema])[] {
  if (schema.kind === 'array') return listMembers(schema.items, path);
  if (schema.kind !== 'object') return [];
  return Object.entries(schema.members).flatMap(([name, member]) => {
    const memberPath = path === '' ? name : `${path}.${name}`;
    return [[memberPath, member] as const, ...listMembers(member.schema, memberPath)];
  });
}
