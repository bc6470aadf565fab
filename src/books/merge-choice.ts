/**
 * Which value a merged book gets of a member that two books have otherwise: the first choice of the
 * console and of `book:merge --fill`. The console's scripts have this file too: it imports nothing.
 */

/** The members that a merge can unite: lists of names. */
export const COMBINED_MEMBERS: readonly string[] = ['keywords', 'reading.shelves'];

/** The value of the book that stays, that of the book that goes, or the items of both. */
export type MergeChoice = 'own' | 'other' | 'both';

/** An undefined value or an empty list is none. */
export function chooseValue(name: string, own: unknown, others: unknown): MergeChoice {
  if (isNone(others)) return 'own';
  if (isNone(own)) return 'other';
  return COMBINED_MEMBERS.includes(name) ? 'both' : 'own';
}

function isNone(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}
