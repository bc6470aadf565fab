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

export const STATUS = 'reading.status';
export const STARTED_ON = 'reading.startedOn';
export const FINISHED_ON = 'reading.finishedOn';
/** The members of which a title may say both. */
export const TITLE_MEMBERS: readonly string[] = ['title', 'subtitle'];
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
 * - Any other book gets no date of another reading.
 *
 * A title that has the subtitle in it gets none beside it.
 */
export function chooseValues(own: Members, others: Members): ReadonlyMap<string, MergeChoice> {
  const choices = new Map(Object.keys({ ...own, ...others })
    .map((name) => [name, chooseValue(name, own[name], others[name])] as const));
  const isOpen = OPEN_STATUSES.includes(own[STATUS]);
  const isReadSince = isOpen && others[STATUS] === 'read'
    && !isEarlier(others[FINISHED_ON], own[STARTED_ON]);
  if (isOpen) {
    for (const name of isReadSince ? [STATUS, ...READING_DATES] : [FINISHED_ON]) {
      if (!isNone(others[name])) choices.set(name, isReadSince ? 'other' : 'own');
    }
  }
  const additions = Object.fromEntries(
    Object.entries(others).filter(([name]) => choices.get(name) === 'other'));
  const refusedDates = !isReadSince && areTwoReadings(own, others)
    ? READING_DATES : listRefusedDates(own, additions);
  const titleNames = isSameTitle(own, others) ? TITLE_MEMBERS : [];
  for (const name of [...refusedDates, ...titleNames]) {
    if (choices.has(name)) choices.set(name, 'own');
  }
  return choices.set(METADATA, 'both');
}

/**
 * The dates that a book does not get of `added`, as the model refuses them beside those that it
 * has: a reading does not end before it begins.
 */
export function listRefusedDates(book: Members, added: Members): readonly string[] {
  const [started, finished] = READING_DATES.map((name) => added[name] ?? book[name]);
  return isEarlier(finished, started)
    ? READING_DATES.filter((name) => added[name] !== undefined) : [];
}

/**
 * Whether two books have one title and subtitle, which either may have in its title alone: then
 * whatever their case, as programs write a subtitle in small letters or not.
 */
export function isSameTitle(own: Members, others: Members): boolean {
  const [title, otherTitle] = [joinTitle(own), joinTitle(others)];
  return title === otherTitle || (isNone(own['subtitle']) !== isNone(others['subtitle'])
    && title.toLowerCase() === otherTitle.toLowerCase());
}

/** Libraries write `Title : subtitle`. */
function joinTitle({ title, subtitle }: Members): string {
  const text = isNone(subtitle) ? String(title) : `${String(title)}: ${String(subtitle)}`;
  return text.replaceAll(' : ', ': ');
}

/** Whether one reading had certainly ended when the other began, or both ended at two dates. */
export function areTwoReadings(own: Members, others: Members): boolean {
  return [[own, others], [others, own]].some(([left = {}, right = {}]) =>
    isEarlier(left[FINISHED_ON], right[STARTED_ON])
      || isEarlier(left[FINISHED_ON], right[FINISHED_ON]));
}

/** Whether both are dates, and the first is certainly before the second. */
export function isEarlier(date: unknown, otherDate: unknown): boolean {
  return typeof date === 'string' && typeof otherDate === 'string' && isBefore(date, otherDate);
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
