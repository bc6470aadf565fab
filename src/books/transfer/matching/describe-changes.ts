/** Describes the changes that an import makes in a book, in short, for a verbose report. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../../base/fields.ts';
import { encodeJson } from '../../../base/json/encode.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { READING_PREFIX } from '../../book-members.ts';
import { METADATA } from '../../merge-choice.ts';
import { DIGESTS_MEMBER, asObject } from '../mapping/metadata-source.ts';
import { createSaidCheck, nameMembers } from './last-import.ts';
import { isSaid } from './merge-record.ts';

/**
 * See `ImportedBook`: first what the reader says, and metadata last, of each source the names of
 * the fields that differ. Digests are not told.
 */
export function describeChanges(
  before: JsonObject, after: JsonObject,
): Readonly<Record<string, string>> {
  const { [METADATA]: metadataBefore, ...membersBefore } = before;
  const { [METADATA]: metadataAfter, ...membersAfter } = after;
  const { source: sourceBefore, [DIGESTS_MEMBER]: _, ...othersBefore } = asObject(metadataBefore);
  const { source: sourceAfter, [DIGESTS_MEMBER]: __, ...othersAfter } = asObject(metadataAfter);
  const changes = listChanges(membersBefore, membersAfter);
  const isOfReader = ([name]: MemberChange): boolean => name.startsWith(READING_PREFIX);
  return Object.fromEntries([
    ...changes.filter(isOfReader), ...changes.filter((change) => !isOfReader(change)),
    ...listChanges(othersBefore, othersAfter, `${METADATA}.`),
    ...listSourceChanges(asObject(sourceBefore), asObject(sourceAfter)),
  ]);
}

/**
 * The members, and columns of a reader's own, that the book keeps although the source that said
 * them says them no more.
 */
export function describeStaying(
  book: JsonObject, record: JsonObject, format: string | null,
): Readonly<Record<string, string>> {
  if (format === null) return {};
  const isOwn = createSaidCheck(book, format);
  const [members, said] = [nameMembers(book), nameMembers(record)];
  return Object.fromEntries(Object.entries(members)
    .filter(([name]) => name !== METADATA && !isSaid(said, name) && isOwn(members, name))
    .map(([name, value]) => [name, `${shorten(value)} stays, the source has it no more`]));
}

type MemberChange = readonly [name: string, values: string];

/** The fields of each source that differ, by their names. */
function listSourceChanges(before: JsonObject, after: JsonObject): readonly MemberChange[] {
  return listChangedNames(before, after).flatMap((format) => {
    const names = listChangedNames(asObject(before[format]), asObject(after[format]));
    return names.length === 0
      ? [] : [[`${METADATA}.source.${format}`, cut(names.join(', '))] as const];
  });
}

/** The members that differ by name, those of an object behind a dot: `metadata.shelf`. */
function listChanges(
  before: JsonObject, after: JsonObject, prefix = '',
): readonly MemberChange[] {
  return listChangedNames(before, after).flatMap((name) => {
    const [left, right] = [before[name], after[name]];
    const [leftObject, rightObject] = [left ?? {}, right ?? {}];
    return isJsonObject(leftObject) && isJsonObject(rightObject)
      ? listChanges(leftObject, rightObject, `${prefix}${name}.`)
      : [[prefix + name, `${shorten(left)} → ${shorten(right)}`] as const];
  });
}

function listChangedNames(before: JsonObject, after: JsonObject): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

const VALUE_LENGTH_MAX = 40;

function shorten(value: JsonValue | undefined): string {
  if (value === undefined) return 'none';
  return cut(encodeJson(value));
}

function cut(text: string): string {
  return text.length <= VALUE_LENGTH_MAX
    ? text : `${text.slice(0, VALUE_LENGTH_MAX).toWellFormed()}…`;
}
