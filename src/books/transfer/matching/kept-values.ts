/**
 * The values that a book does not have, kept beside it: one that an import replaces or passes over
 * goes to `metadata.source.<format>.members` of the source that said it, by the member's name, and
 * to those of `here` where no source has said it:
 *
 *     "source":{"librarything":{"Book Id":"1","members":{"reading.review":"Great."}}}
 *
 * Values of metadata beside `source` go there too, as `metadata.<name>`. Where there is no room for
 * a value, longer fields of the record go first. If that is not enough, a value that would be
 * replaced stays, of metadata all of them, and what the import says goes there in its place.
 */
import { isDeepStrictEqual } from 'node:util';
import { findJsonProblem, isJsonObject } from '../../../base/fields.ts';
import { countJsonBytes } from '../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { METADATA_BYTES_MAX, METADATA_DEPTH_MAX, foldText } from '../../book.ts';
import { METADATA_PREFIX, joinMembers, separateMembers } from '../../book-members.ts';
import { READING_DATES } from '../../merge-choice.ts';
import {
  SOURCE_MEMBERS, asObject, findSource, putObject, putSource,
} from '../mapping/metadata-source.ts';
import { createSaidCheck, listDigestFormats, nameMembers, omitDigests } from './last-import.ts';
import type { SaidCheck } from './last-import.ts';
import { isSaid } from './merge-record.ts';
import type { MergedRecord } from './merge-record.ts';

/** The room in the 16 KiB of metadata that stays for the digests of two sources. */
const DIGESTS_BYTES = 512;
/** The digest of the longest list takes 30 µs. */
const INNER_RUNS_MAX = 100;
/** The value of a member in `metadata.source.<source>.members` stands below so many objects. */
const KEPT_DEPTH = 4;
/** The name that the catalog has among the sources. No format has it. */
const HERE = 'here';

/** The members of a record that the version of the book has otherwise, or has not. */
export function listPassedOver(record: JsonObject, version: JsonObject): JsonObject {
  const { metadata, mergedIds, ...members } = nameMembers(record);
  const stored = nameMembers(version);
  return Object.fromEntries(Object.entries(members).filter(([name, value]) =>
    isSaid(members, name) && !isWithin(value, stored[name])));
}

export type ReplacedMembers = MergedRecord & {
  /** The members whose values the source had not said itself, and which are not in the new ones. */
  readonly replacedNames: readonly string[];
  /** The members that stay, as there is no room to keep their values beside those of the record. */
  readonly stayingNames: readonly string[];
};

/**
 * The version of a stored book with the values that others said and it replaces beside it. A value
 * that has no room in the metadata is not replaced. `passedOver` is what `format` says in vain, and
 * `ownIdFields` are the fields of the format that stay for any value.
 */
export function keepReplaced(
  { members: version, leftOut }: MergedRecord, book: JsonObject, format: string,
  passedOver: JsonObject, ownIdFields: readonly string[],
): ReplacedMembers {
  const { metadata, mergedIds, ...before } = nameMembers(book);
  const after = nameMembers(version);
  const wasOwn = createSaidCheck(book, format);
  const changedNames = Object.keys(before).filter((name) =>
    !isDeepStrictEqual(before[name], after[name]));
  const replacedNames = changedNames.filter((name) => {
    if (!isSaid(before, name) || wasOwn(before, name)) return false;
    const value = before[name];
    const addedItems = Array.isArray(value) ? findAddedItems(value, name, [wasOwn]) : null;
    return !isWithin(addedItems ?? value, after[name]);
  });
  const listSources = findSources(book, format);
  const createKeeper = (members: JsonObject): ValueKeeper =>
    new ValueKeeper(forgetMembers(members, format, changedNames), format, ownIdFields);
  let keeper = createKeeper(version);
  const findUnplaced = (names: readonly string[]): readonly string[] =>
    names.filter((name) => !keeper.keep(listSources(name), name, before[name] ?? null));
  const unplacedMetadata = findUnplaced(replacedNames.filter(isOfMetadata));
  // With a value of theirs back in its place, metadata might be too large: all of them stay.
  const stayingMetadata = unplacedMetadata.length === 0
    ? [] : Object.keys(after).filter(isOfMetadata);
  if (stayingMetadata.length > 0) {
    keeper = createKeeper({ ...version, metadata: omitDigests(book, format)['metadata'] ?? {} });
  }
  const unplacedNames = findUnplaced(replacedNames.filter((name) => !isOfMetadata(name)));
  // The two dates of a reading are one: each alone might contradict the other.
  const stayingNames = [...new Set([
    ...unplacedNames, ...stayingMetadata,
    ...unplacedNames.some((name) => READING_DATES.includes(name)) ? READING_DATES : [],
  ])];
  keeper.restore(stayingNames, before);
  const saidInVain = Object.entries({ ...passedOver, ...pickOthers(after, before, stayingNames) });
  const unsaid = saidInVain.filter(([name, value]) => !keeper.keep([format], name, value));
  return {
    members: keeper.members,
    leftOut: [...leftOut, ...keeper.leftOut, ...unsaid.map(([name]) => `${format}.${name}`)],
    replacedNames: replacedNames.filter((name) => !stayingNames.includes(name)),
    stayingNames: [...unplacedNames, ...unplacedMetadata],
  };
}

/** Returns the sources but `format` that said the book's value of a single member, or `here`. */
export function findSources(
  book: JsonObject, format: string,
): (name: string) => readonly string[] {
  const members = nameMembers(book);
  const others = listOtherSources(book, format);
  return (name) => {
    const sources = others.filter(({ isSaid: isSaidByOther }) => isSaidByOther(members, name))
      .map((other) => other.format);
    return sources.length === 0 ? [HERE] : sources;
  };
}

function isOfMetadata(name: string): boolean {
  return name.startsWith(METADATA_PREFIX);
}

/** The named members that differ from those of the other book, as far as they are there. */
function pickOthers(
  members: JsonObject, others: JsonObject, names: readonly string[],
): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name, value]) =>
    names.includes(name) && !isDeepStrictEqual(value, others[name])));
}

/** Keeps values beside a book, in its metadata, as far as these have room. */
export class ValueKeeper {
  readonly #format: string;
  readonly #ownIdFields: readonly string[];
  #members: JsonObject;
  /** The longer fields of the format that made room. */
  readonly #leftOut: string[] = [];

  constructor(members: JsonObject, format: string, ownIdFields: readonly string[]) {
    this.#members = members;
    this.#format = format;
    this.#ownIdFields = ownIdFields;
  }

  get members(): JsonObject {
    return this.#members;
  }

  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  /** Puts the value beside each of the sources; returns whether all metadata may hold it. */
  keep(sources: readonly string[], name: string, value: JsonValue): boolean {
    if (findJsonProblem(value, METADATA_DEPTH_MAX - KEPT_DEPTH) !== null) return false;
    let members = this.#members;
    const leftOut: string[] = [];
    for (const source of sources) {
      const larger = putMember(members, source, name, value);
      if (larger === null) return false;
      const fitted = fitMetadata(larger, this.#format, this.#ownIdFields, countJsonBytes(value));
      if (fitted === null) return false;
      members = fitted.members;
      leftOut.push(...fitted.leftOut);
    }
    this.#members = members;
    this.#leftOut.push(...leftOut);
    return true;
  }

  /** Gives the book the values that it had of the named members. */
  restore(names: readonly string[], before: JsonObject): void {
    if (names.length === 0) return;
    const members = Object.entries(separateMembers(this.#members))
      .filter(([name]) => !names.includes(name));
    const restored = Object.entries(before).filter(([name]) => names.includes(name));
    this.#members = joinMembers(Object.fromEntries([...members, ...restored]));
  }
}

/** Null where a caller has something of another kind there. */
function putMember(
  book: JsonObject, format: string, name: string, value: JsonValue,
): JsonObject | null {
  const source = asObject(book['metadata'])['source'] ?? {};
  const fields = isJsonObject(source) ? source[format] ?? {} : null;
  if (!isJsonObject(fields)) return null;
  const members = { ...asObject(fields[SOURCE_MEMBERS]), [name]: value };
  return putSource(book, format, { ...fields, [SOURCE_MEMBERS]: members });
}

/**
 * The book without so many fields of the format that its metadata have room, the longest first;
 * null where it would take fields of `bytesMax` or less.
 */
function fitMetadata(
  book: JsonObject, format: string, ownIdFields: readonly string[], bytesMax: number,
): MergedRecord | null {
  let members = book;
  const leftOut: string[] = [];
  while (countJsonBytes(members['metadata']) > METADATA_BYTES_MAX - DIGESTS_BYTES) {
    const fields = findSource(format, members['metadata']) ?? {};
    const [longest] = Object.keys(fields)
      .filter((name) => name !== SOURCE_MEMBERS && !ownIdFields.includes(name)
        && countJsonBytes(fields[name]) > bytesMax)
      .sort((left, right) => countJsonBytes(fields[right]) - countJsonBytes(fields[left]));
    if (longest === undefined) return null;
    const { [longest]: _, ...others } = fields;
    members = putSource(members, format, others);
    leftOut.push(longest);
  }
  return { members, leftOut };
}

/** The book without what a source said before of members of which it says something else now. */
function forgetMembers(book: JsonObject, format: string, names: readonly string[]): JsonObject {
  const fields = findSource(format, book['metadata']) ?? {};
  const members = Object.entries(asObject(fields[SOURCE_MEMBERS]));
  const others = members.filter(([name]) => !names.includes(name));
  if (others.length === members.length) return book;
  return putSource(book, format, putObject(fields, SOURCE_MEMBERS, Object.fromEntries(others)));
}

/**
 * The items that somebody added to a list that one of the sources has said, where they stand
 * together; none where the list is that of a source, and null where no such list is found.
 */
export function findAddedItems(
  list: readonly JsonValue[], name: string, sourceChecks: readonly SaidCheck[],
): readonly JsonValue[] | null {
  for (const [start, end] of listRuns(list.length)) {
    const others = { [name]: [...list.slice(0, start), ...list.slice(end)] };
    if (sourceChecks.some((isSaidBySource) => isSaidBySource(others, name))) {
      return list.slice(start, end);
    }
  }
  return null;
}

/** Where items may have been added to a list: none, any number at its end, or few inside. */
function* listRuns(length: number): Generator<readonly [start: number, end: number]> {
  for (let start = length; start > 0; start -= 1) yield [start, length];
  let runs = 0;
  for (let count = 1; count < length; count += 1) {
    for (let start = 0; start + count < length; start += 1) {
      if (runs === INNER_RUNS_MAX) return;
      yield [start, start + count];
      runs += 1;
    }
  }
}

type OtherSource = { readonly format: string; readonly isSaid: SaidCheck };

/** The sources of the book but the one of that format. */
export function listOtherSources(book: JsonObject, format: string): readonly OtherSource[] {
  return listDigestFormats(book).filter((other) => other !== format)
    .map((other) => ({ format: other, isSaid: createSaidCheck(book, other) }));
}

/**
 * Whether the other value says all that the value says: each item, and each member of an item.
 * Texts of lists are the same whatever their case.
 */
export function isWithin(value: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (Array.isArray(value) && Array.isArray(other)) {
    return value.every((item: JsonValue) => other.some((otherItem: JsonValue) =>
      isWithin(foldText(item), foldText(otherItem))));
  }
  if (!isJsonObject(value) || !isJsonObject(other)) return isDeepStrictEqual(value, other);
  return Object.entries(value).every(([name, item]) => isDeepStrictEqual(item, other[name]));
}
