/**
 * Which value a merged book gets of a member that two books have otherwise: the first choice of the
 * console and of `book:merge --fill`. Members of `reading` have names with a dot. The console's
 * scripts have this file too: it imports nothing but the order of dates.
 */
import { isBefore } from './date-order.ts';

/** The members that a merge can unite: lists of names. */
export const COMBINED_MEMBERS: readonly string[] = ['keywords', 'reading.shelves'];

/** A merge that unites the metadata of two books keeps in them what is not chosen. */
export const METADATA = 'metadata';

const STATUS = 'reading.status';
const STARTED_ON = 'reading.startedOn';
const FINISHED_ON = 'reading.finishedOn';
/** The dates of a reading. */
export const READING_DATES: readonly string[] = [STARTED_ON, FINISHED_ON];
/** The statuses of a book whose last reading has not ended. */
export const OPEN_STATUSES: readonly unknown[] = ['to-read', 'reading', 'paused'];

/** The value of the book that stays, that of the book that goes, or the items of both. */
export type MergeChoice = 'own' | 'other' | 'both';

type Members = Readonly<Record<string, unknown>>;

/**
 * The choice for each member that either book has, and for the metadata, which are of both. The
 * book has what it lacks of the other, and a list of both. Status and dates are of one reading:
 *
 * - A book that is not read yet has those of the other, if that is read: unless the book was begun
 *   again after the other had ended. Otherwise it does not get a date on which it was finished.
 * - A date that would end the reading before its start stays behind.
 */
export function chooseValues(own: Members, others: Members): ReadonlyMap<string, MergeChoice> {
  const choices = new Map(Object.keys({ ...own, ...others })
    .map((name) => [name, chooseValue(name, own[name], others[name])] as const));
  if (OPEN_STATUSES.includes(own[STATUS])) {
    const isReadSince = others[STATUS] === 'read'
      && !areContrary(own[STARTED_ON], others[FINISHED_ON]);
    for (const name of isReadSince ? [STATUS, ...READING_DATES] : [FINISHED_ON]) {
      if (!isNone(others[name])) choices.set(name, isReadSince ? 'other' : 'own');
    }
  }
  const additions = Object.fromEntries(
    Object.entries(others).filter(([name]) => choices.get(name) === 'other'));
  for (const name of listRefusedDates(own, additions)) choices.set(name, 'own');
  return choices.set(METADATA, 'both');
}

/**
 * The dates that a book does not get of `added`, as the model refuses them beside those that it
 * has: a reading does not end before it begins.
 */
export function listRefusedDates(book: Members, added: Members): readonly string[] {
  const [started, finished] = READING_DATES.map((name) => added[name] ?? book[name]);
  return areContrary(started, finished)
    ? READING_DATES.filter((name) => added[name] !== undefined) : [];
}

function areContrary(started: unknown, finished: unknown): boolean {
  return typeof started === 'string' && typeof finished === 'string'
    && isBefore(finished, started);
}

/** An undefined value or an empty list is none. */
function chooseValue(name: string, own: unknown, others: unknown): MergeChoice {
  if (isNone(others)) return 'own';
  if (isNone(own)) return 'other';
  return COMBINED_MEMBERS.includes(name) ? 'both' : 'own';
}

function isNone(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}
