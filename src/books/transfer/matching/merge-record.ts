/**
 * Merges a record into the stored book that it matches: the result has the members that the record
 * says, and the book's others. The members of `reading` count one by one: a file that has ratings
 * alone takes away no status. Metadata are merged member by member, and `metadata.source` by
 * format: what the same source has said before gives way. Where the 16 KiB of metadata have no room
 * for all of it, the rest of the book's stays, and of the record's the longest is left out.
 */
import { isJsonObject } from '../../../base/fields.ts';
import { countJsonBytes } from '../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { LIST_ITEMS_MAX, METADATA_BYTES_MAX, foldText } from '../../book.ts';
import { combineLists, joinMembers, separateMembers } from '../../book-members.ts';
import {
  COMBINED_MEMBERS, FINISHED_ON, OPEN_STATUSES, READING_DATES, STATUS, TITLE_MEMBERS,
  areTwoReadings, isSameTitle, listRefusedDates,
} from '../../merge-choice.ts';
import { fitFields } from '../mapping/fit-fields.ts';
import { createStandInTitle, isRoundingOf } from '../mapping/isbn-text.ts';
import { SOURCE_MEMBERS, asObject, findOwnId } from '../mapping/metadata-source.ts';
import type { SourceFormat } from './book-import.ts';

export type MergedRecord = {
  /** The book's members without its id and dates, in the order in which they are stored. */
  readonly members: JsonObject;
  /** The fields that have no room, by name. */
  readonly leftOut: readonly string[];
};

/** The version of a book, and the dates of the record that are not of the reading that it has. */
type RecordMerge = MergedRecord & { readonly refusedNames: readonly string[] };

const DATE_PUBLISHED = 'datePublished';
const SERIES = 'series';
const TITLE = 'title';
const ASCII_MAX = 0x7f;

/** The format of a record, as far as it tells its fields; null for our own. */
type RecordFormat = Pick<SourceFormat, 'ownIdFields' | 'exportOf'> | null;

/** Fields with the source's own id of the record are the last to be left out. */
export function mergeRecord(
  book: JsonObject, record: JsonObject, source: RecordFormat,
): RecordMerge {
  const { metadata, leftOut } = mergeMetadata(book['metadata'], record['metadata'], source);
  const bookMembers = separateMembers(book);
  const recordMembers = separateMembers(record);
  const names = Object.keys(recordMembers)
    .filter((name) => name !== 'metadata' && isSaid(recordMembers, name));
  // The file says nothing of the book's other date, which stays: it is another reading.
  const refusedNames = listRefusedDates(bookMembers, recordMembers);
  const changes = Object.fromEntries(names.filter((name) => !refusedNames.includes(name))
    .map((name) => [name, recordMembers[name] ?? null]));
  const members = joinMembers({ ...bookMembers, ...changes });
  return {
    members: metadata === undefined ? members : { ...members, metadata },
    leftOut, refusedNames,
  };
}

/**
 * The fields of a record without what says less than the book and nothing else: a date `2008` takes
 * nothing from `2008-09-14`, a series without a place in it leaves the place that the book has, and
 * title and subtitle stay as they are where the record has the same in one text, or in two.
 */
export function omitVague(fields: JsonObject, book: JsonObject): JsonObject {
  const [said, stored] = [separateMembers(fields), separateMembers(book)];
  const series = addPlaces(said[SERIES], stored[SERIES]);
  const vagueNames = [DATE_PUBLISHED, ...READING_DATES].filter((name) =>
    typeof said[name] === 'string' && String(stored[name]).startsWith(`${said[name]}-`));
  if (said[TITLE] !== stored[TITLE] && isSaid(said, TITLE) && isSameTitle(said, stored)) {
    vagueNames.push(...TITLE_MEMBERS);
  }
  if (vagueNames.length === 0 && series === said[SERIES]) return fields;
  const members = Object.entries(said).filter(([name]) => !vagueNames.includes(name));
  return joinMembers({ ...Object.fromEntries(members), ...series === undefined ? {} : { series } });
}

/** The record without the ISBN that a csv puts aside, where it is that of the book, rounded. */
export function omitRoundedIsbn(fields: JsonObject, { isbn: bookIsbn }: JsonObject): JsonObject {
  const { metadata, ...others } = fields;
  const { isbn, ...rest } = asObject(metadata);
  if (typeof isbn !== 'string' || !isRoundingOf(isbn, String(bookIsbn))) return fields;
  return Object.keys(rest).length === 0 ? others : { ...others, metadata: rest };
}

/**
 * The record with the letters of the book in the place of `?`: a spreadsheet that is saved as
 * Windows-1252 has nothing else for those that this has not. Itself where there are none.
 */
export function restoreLetters(fields: JsonObject, book: JsonObject): JsonObject {
  // Most records have none: to look for letters in each value would take 4 µs.
  return hasQuestionMark(fields) ? restoreMembers(fields, book) : fields;
}

function hasQuestionMark(value: JsonValue): boolean {
  if (typeof value === 'string') return value.includes('?');
  if (Array.isArray(value)) return value.some(hasQuestionMark);
  return isJsonObject(value) && Object.values(value).some(hasQuestionMark);
}

function restoreMembers(fields: JsonObject, book: JsonObject): JsonObject {
  const entries = Object.entries(fields);
  const restored = entries.map(([name, value]) => [name, restoreValue(value, book[name])] as const);
  const isSame = restored.every(([, value], index) => value === entries[index]?.[1]);
  return isSame ? fields : Object.fromEntries(restored);
}

/** Names may stand anywhere in the book's list, also those of objects. */
function restoreValue(value: JsonValue, stored: JsonValue | undefined): JsonValue {
  if (typeof value === 'string') {
    return typeof stored === 'string' && isWithoutLetters(value, stored) ? stored : value;
  }
  if (isJsonObject(value)) return isJsonObject(stored) ? restoreMembers(value, stored) : value;
  if (!Array.isArray(value) || !Array.isArray(stored) || !hasQuestionMark(value)) return value;
  const storedItems: readonly JsonValue[] = stored;
  const itemsByAscii = new Map(storedItems.map((item) => [replaceLetters(nameOf(item)), item]));
  const items = value.map((item: JsonValue) => {
    const storedItem = itemsByAscii.get(replaceLetters(nameOf(item)));
    return isJsonObject(item) && isJsonObject(storedItem)
      ? restoreNamed(item, storedItem) : restoreValue(item, storedItem);
  });
  return items.every((item, index) => item === value[index]) ? value : items;
}

/** An author or a series as the book has it: lost letters tell no family either. */
function restoreNamed(item: JsonObject, stored: JsonObject): JsonObject {
  if (!isWithoutLetters(nameOf(item), nameOf(stored))) return item;
  const clearMembers = Object.entries(item).filter(([, value]) => !hasQuestionMark(value));
  return { ...stored, ...Object.fromEntries(clearMembers) };
}

/** An item that is a text, or its name without blanks, of which East Asian names have none. */
function nameOf(item: JsonValue): string {
  if (!isJsonObject(item)) return String(item);
  return String(item['name']).replaceAll(' ', '');
}

/** The text with `?` in the place of each letter that any encoding may lack. */
function replaceLetters(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, '?');
}

function isWithoutLetters(text: string, stored: string): boolean {
  if (!text.includes('?') || text.length !== stored.length || text === stored) return false;
  for (let index = 0; index < text.length; index += 1) {
    const isLost = text[index] === '?' && stored.charCodeAt(index) > ASCII_MAX;
    if (text[index] !== stored[index] && !isLost) return false;
  }
  return true;
}

/** The series of a record, those without a place as the book has them; itself if none is so. */
function addPlaces(
  said: JsonValue | undefined, stored: JsonValue | undefined,
): JsonValue | undefined {
  if (!Array.isArray(said) || !Array.isArray(stored)) return said;
  const items: readonly JsonValue[] = said;
  const storedItems: readonly JsonValue[] = stored;
  const series = items.map((item) => {
    const { name, position } = asObject(item);
    if (position !== undefined) return item;
    const sameSeries = storedItems.map(asObject).find((other) =>
      other['position'] !== undefined && isSameText(other['name'], name));
    return sameSeries ?? item;
  });
  return series.every((item, index) => item === items[index]) ? said : series;
}

function isSameText(text: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return foldText(text ?? null) === foldText(other ?? null);
}

/**
 * The fields without the date on which a book was finished, for a book that is not read yet; and
 * without the start, where that is of another reading.
 */
export function omitEnd(fields: JsonObject, book: JsonObject): JsonObject {
  const [said, stored] = [separateMembers(fields), separateMembers(book)];
  if (!OPEN_STATUSES.includes(stored[STATUS])) return fields;
  const names = areTwoReadings(said, stored) ? READING_DATES : [FINISHED_ON];
  return joinMembers(Object.fromEntries(
    Object.entries(said).filter(([name]) => !names.includes(name))));
}

/** Merges what the record says and the book does not; of full metadata nothing. */
export function fillRecord(
  book: JsonObject, record: JsonObject, source: RecordFormat,
): RecordMerge {
  const [bookMembers, recordMembers] = [separateMembers(book), separateMembers(record)];
  const gapNames = Object.keys(recordMembers)
    .filter((name) => name !== 'metadata' && !isSaid(bookMembers, name));
  const otherNames = areTwoReadings(bookMembers, recordMembers)
    ? gapNames.filter((name) => READING_DATES.includes(name)) : [];
  const gaps = gapNames.filter((name) => !otherNames.includes(name))
    .map((name) => [name, recordMembers[name] ?? null] as const);
  const merge = mergeRecord(book, joinMembers(Object.fromEntries(gaps)), null);
  const result = { ...merge, refusedNames: [...otherNames, ...merge.refusedNames] };
  const { metadata, leftOut } = mergeMetadata(record['metadata'], book['metadata'], source);
  if (leftOut.length > 0 && book['metadata'] !== undefined) {
    return { ...result, leftOut: [...result.leftOut, 'metadata'] };
  }
  const { members } = result;
  return { ...result, members: metadata === undefined ? members : { ...members, metadata } };
}

/** The book with the keywords and shelves of both, as far as they have room for all. */
export function uniteLists(book: JsonObject, record: JsonObject): JsonObject {
  const [members, recordMembers] = [separateMembers(book), separateMembers(record)];
  const lists = COMBINED_MEMBERS.flatMap((name) => {
    const list = combineLists(members[name], recordMembers[name]);
    return Array.isArray(list) && list.length <= LIST_ITEMS_MAX ? [[name, list] as const] : [];
  });
  return joinMembers({ ...members, ...Object.fromEntries(lists) });
}

/**
 * Whether the file said the single member, and not the importer in place of what the file lacks.
 */
export function isSaid(record: JsonObject, name: string): boolean {
  const value = record[name];
  if (value === undefined) return false;
  // The importer gives a record without authors an empty list.
  if (name === 'authors') return Array.isArray(value) && value.length > 0;
  // A record of a list of ISBNs has a title made of its ISBN.
  return name !== TITLE || value !== createStandInTitle(String(record['isbn']));
}

type MergedMetadata<Metadata extends JsonObject | undefined = JsonObject> = {
  readonly metadata: Metadata;
  readonly leftOut: readonly string[];
};

function mergeMetadata(
  stored: JsonValue | undefined, added: JsonValue | undefined, recordFormat: RecordFormat,
): MergedMetadata<JsonObject | undefined> {
  if (!isJsonObject(stored) || !isJsonObject(added)) {
    const metadata = [added, stored].find(isJsonObject);
    return { metadata, leftOut: [] };
  }
  const { source, ...others } = added;
  if (!isJsonObject(source)) return addMembers(stored, added);
  let { metadata, leftOut } = addMembers(stored, others);
  for (const [format, fields] of Object.entries(source)) {
    if (!isJsonObject(fields)) continue;
    const result = addSource(metadata, format, fields, recordFormat);
    metadata = result.metadata;
    leftOut = [...leftOut, ...result.leftOut];
  }
  return { metadata, leftOut };
}

/** Adds members beside `source`, or a `source` that is no object. */
export function addMembers(stored: JsonObject, members: JsonObject): MergedMetadata {
  // The comma of each member is counted, too, and none follows the last.
  const bytesMax = METADATA_BYTES_MAX - countJsonBytes(stored) + (isEmpty(stored) ? 1 : 0);
  const { kept, leftOut } = fitFields(
    new Map(Object.entries(members)), [], { bytesMax, depthMax: Infinity, stored });
  return { metadata: { ...stored, ...Object.fromEntries(kept) }, leftOut };
}

/**
 * Adds what a source says, in the place of what the same source has said before. The own id stays
 * where the record has none: by it the book is found again. So do the members that it says
 * otherwise than the book, and the fields of the same record in another export of the program.
 */
function addSource(
  metadata: JsonObject, format: string, fields: JsonObject, recordFormat: RecordFormat,
): MergedMetadata {
  const { source = {} } = metadata;
  // A source that is no object is the caller's own, and stays, as does such a member of one.
  const isOwn = !isJsonObject(source)
    || (Object.hasOwn(source, format) && !isJsonObject(source[format]));
  if (isOwn) return { metadata, leftOut: Object.keys(fields) };
  const place = (placed: JsonObject): JsonObject =>
    ({ ...metadata, source: { ...source, [format]: placed } });
  // The comma of each field is counted, too, and none follows the last.
  const bytesMax = METADATA_BYTES_MAX - countJsonBytes(place({})) + 1;
  const ownIdFields = recordFormat?.ownIdFields ?? [];
  const isOwnId = ([name]: readonly [string, JsonValue]): boolean => ownIdFields.includes(name);
  const newFields = Object.entries(fields);
  const hasOwnId = newFields.some(isOwnId);
  const fieldsBefore = asObject(source[format]);
  const otherFields = recordFormat === null
    ? {} : selectOtherExports(fieldsBefore, fields, recordFormat);
  const storedFields = Object.entries(fieldsBefore).filter((entry) => entry[0] === SOURCE_MEMBERS
    || Object.hasOwn(otherFields, entry[0]) || (!hasOwnId && isOwnId(entry)));
  const { kept, leftOut } = fitFields(
    new Map([...storedFields, ...newFields]), ownIdFields, { bytesMax, depthMax: Infinity });
  if (!newFields.some(([name]) => kept.has(name))) return { metadata, leftOut };
  return { metadata: place(Object.fromEntries(kept)), leftOut };
}

/** The fields of a record that come from other exports of its program than `fields` do. */
export function selectOtherExports(
  stored: JsonObject, fields: JsonObject,
  { ownIdFields, exportOf }: NonNullable<RecordFormat>,
): JsonObject {
  if (findOwnId(stored, ownIdFields) !== findOwnId(fields, ownIdFields)) return {};
  const exports = new Set(Object.keys(fields).map(exportOf));
  return Object.fromEntries(Object.entries(stored).filter(([name]) =>
    name !== SOURCE_MEMBERS && !exports.has(exportOf(name))));
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}
