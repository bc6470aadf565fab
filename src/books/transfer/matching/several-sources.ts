/**
 * The rules for a book of which several programs say something, each by its own imports: what of a
 * record counts. Digests (last-import.ts) tell who said the value that a book has, and what does
 * not count is kept beside (kept-values.ts).
 *
 * - Keywords of another source are added to those that are there, while there is room for all.
 * - Keywords and shelves that somebody added here, to those of a source, stay behind the new ones.
 *   No digest tells that a source had none: then they are replaced.
 * - A book that another source says to be read does not become `to-read`.
 * - The year of a work does not replace the date of an edition.
 * - The dates of a book are of one reading, the last: those of an earlier one, and a date that
 *   contradicts the book's other, are passed over, and a later one takes the start away with which
 *   a source had said the earlier. A lower count of readings does not replace a higher.
 */
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { LIST_ITEMS_MAX } from '../../book.ts';
import {
  METADATA_PREFIX, appendItems, joinMembers, separateMembers,
} from '../../book-members.ts';
import {
  COMBINED_MEMBERS, FINISHED_ON, OPEN_STATUSES, READING_DATES, STARTED_ON, STATUS, areTwoReadings,
  isEarlier, listRefusedDates,
} from '../../merge-choice.ts';
import { putFamilyLast } from '../../query/title-key.ts';
import { WORK_YEAR_FORMATS } from '../format-list.ts';
import { asObject, putObject } from '../mapping/metadata-source.ts';
import { findAddedItems, isWithin, listOtherSources } from './kept-values.ts';
import { createSaidCheck, nameMembers } from './last-import.ts';
import type { SaidCheck } from './last-import.ts';

const DATE_PUBLISHED = 'datePublished';
const KEYWORDS = 'keywords';
const READ_COUNT = 'reading.readCount';

type SettledRecord = {
  /** The members of the record that count. */
  readonly fields: JsonObject;
  /** The single members in the place of which the book keeps its own. */
  readonly passedOver: JsonObject;
  /** The book that they change: without a start that gives way to a later reading. */
  readonly book: JsonObject;
};

/**
 * The record of a source for a stored book: `record` has what `format` says otherwise than at its
 * last import, `said` all that it says.
 */
export function settleRecord(
  record: JsonObject, said: JsonObject, book: JsonObject, format: string,
): SettledRecord {
  const stored = separateMembers(book);
  const fields: Record<string, JsonValue> = { ...separateMembers(record) };
  const passedOver: Record<string, JsonValue> = {};
  const passOver = (name: string): void => {
    passedOver[name] = fields[name] ?? null;
    Reflect.deleteProperty(fields, name);
  };
  const isOwn = createSaidCheck(book, format);
  const others = listOtherSources(book, format);
  const checks = [isOwn, ...others.map((other) => other.isSaid)];
  const isOfOthers = (name: string): boolean => stored[name] !== undefined
    && others.some(({ isSaid: isSaidByOther }) => isSaidByOther(stored, name));
  // Another program knows the same names, perhaps without which of them is the family.
  if (isWithin(turnNames(fields['authors']), stored['authors'])
    && countItems(fields['authors']) === countItems(stored['authors'])) {
    Reflect.deleteProperty(fields, 'authors');
  }
  for (const name of COMBINED_MEMBERS) {
    const [before, added] = [stored[name], fields[name]];
    if (!Array.isArray(before) || !Array.isArray(added)) continue;
    const isShared = name === KEYWORDS
      && (isOwn(stored, name) ? isOfOthers(name) : others.length > 0);
    const united = isShared ? appendItems(before, added)
      : appendItems(added, findAddedItems(before, name, checks) ?? []);
    if (united.length <= LIST_ITEMS_MAX) fields[name] = united;
    else if (isShared) passOver(name);
  }
  const isRead = (stored[STATUS] === 'read' && isOfOthers(STATUS)) || isOfOthers(FINISHED_ON);
  if (fields[STATUS] === 'to-read' && isRead && !isOwn(stored, STATUS)) passOver(STATUS);
  if (Number(fields[READ_COUNT]) < Number(stored[READ_COUNT]) && !isOwn(stored, READ_COUNT)) {
    passOver(READ_COUNT);
  }
  const saidMembers = separateMembers(said);
  const isLater = isEarlier(stored[FINISHED_ON], fields[FINISHED_ON]);
  if (!isLater) {
    for (const name of listEarlierReading(fields, saidMembers, stored, isOwn)) passOver(name);
  }
  const isStartOver = isLater && saidMembers[STARTED_ON] === undefined
    && checks.some((isSaidBySource) => isSaidBySource(stored, STARTED_ON));
  const isOfWork = WORK_YEAR_FORMATS.includes(format) && fields[DATE_PUBLISHED] !== undefined;
  if (isOfWork && stored[DATE_PUBLISHED] !== undefined && !isOwn(stored, DATE_PUBLISHED)) {
    passOver(DATE_PUBLISHED);
  }
  const named = nameMembers(record);
  const metadata = Object.fromEntries(Object.entries(asObject(record['metadata']))
    .filter(([name]) => !isOwn(named, METADATA_PREFIX + name)));
  return {
    fields: putObject(joinMembers(fields), 'metadata', metadata), passedOver,
    book: isStartOver ? omitMember(book, STARTED_ON) : book,
  };
}

/**
 * The dates among the new values of a record that are of an earlier reading than the book has, or
 * would contradict its other date, and a status `read` that goes with them. A source may correct
 * its own date. `said` is all that the record says.
 */
function listEarlierReading(
  fields: JsonObject, said: JsonObject, stored: JsonObject, isOwn: SaidCheck,
): readonly string[] {
  const newDates = Object.fromEntries(
    Object.entries(fields).filter(([name]) => READING_DATES.includes(name)));
  const lastName = stored[FINISHED_ON] === undefined ? STARTED_ON : FINISHED_ON;
  if (isOwn(stored, lastName) || !areTwoReadings(stored, said)) {
    return listRefusedDates(stored, newDates);
  }
  const isReadBefore = fields[STATUS] === 'read' && OPEN_STATUSES.includes(stored[STATUS])
    && !isOwn(stored, STATUS);
  return [...Object.keys(newDates), ...isReadBefore ? [STATUS] : []];
}

function omitMember(book: JsonObject, name: string): JsonObject {
  const { [name]: _, ...members } = separateMembers(book);
  return joinMembers(members);
}

/** Authors of whom the names alone are known, with the family last. */
function turnNames(authors: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(authors)) return authors;
  const items: readonly JsonValue[] = authors;
  return items.map((author) => {
    const { name, ...others } = asObject(author);
    return typeof name === 'string' && Object.keys(others).length === 0
      ? { name: putFamilyLast(name) } : author;
  });
}

function countItems(value: JsonValue | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}
