/**
 * Compares a book with the one that took it in: which of its values that book has not. Values have
 * names: of single members, `reading.review`, and of metadata `metadata.<name>` and
 * `metadata.source.<format>.<field>`. Pure.
 *
 * A value may be kept beside the members, by its name, in `metadata.source.<source>.members`: see
 * transfer/matching/kept-values.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../base/fields.ts';
import type { JsonObject, JsonValue } from '../base/schema.ts';
import { bookSchema } from './book.ts';
import { METADATA_PREFIX } from './book-members.ts';
import { SOURCE_MEMBERS, asObject } from './transfer/mapping/metadata-source.ts';
import { nameMembers } from './transfer/matching/last-import.ts';
import { isSaid } from './transfer/matching/merge-record.ts';
import { isWithin } from './transfer/matching/kept-values.ts';

type NamedValue = {
  readonly name: string;
  readonly value: JsonValue;
  /** The source that has the value among its `members`; null: the value is lost. */
  readonly keptIn: string | null;
};

/** The values of a book that the merged book has otherwise, or has not. */
export function listDroppedValues(book: JsonObject, mergedBook: JsonObject): readonly NamedValue[] {
  const mergedValues = nameValues(mergedBook);
  const sources = Object.entries(asObject(asObject(mergedBook['metadata'])['source']));
  return [...nameValues(book)]
    .filter(([name, value]) => !isWithin(value, mergedValues.get(name)))
    .map(([name, value]) => {
      // Another merge may have kept the same before.
      const source = sources.findLast(([, fields]) => {
        const members = asObject(asObject(fields)[SOURCE_MEMBERS]);
        return Object.hasOwn(members, name) && isDeepStrictEqual(members[name], value);
      });
      return { name, value, keptIn: source?.[0] ?? null };
    });
}

/** All that callers write into a book; an empty list is no value, and digests say nothing of it. */
function nameValues(book: JsonObject): ReadonlyMap<string, JsonValue> {
  const { metadata, ...members } = nameMembers(book);
  const isValue = ([name, value]: readonly [string, JsonValue]): boolean =>
    name.startsWith(METADATA_PREFIX)
      || (bookSchema.members[name]?.readOnly === undefined && isSaid(members, name)
        && !(Array.isArray(value) && value.length === 0));
  return new Map([
    ...Object.entries(members).filter(isValue),
    ...Object.entries(asObject(asObject(metadata)['source'])).flatMap(nameFields),
  ]);
}

function nameFields(
  [format, fields]: readonly [string, JsonValue],
): readonly (readonly [name: string, value: JsonValue])[] {
  const prefix = `metadata.source.${format}`;
  return !isJsonObject(fields) ? [[prefix, fields]]
    : Object.entries(fields).map(([name, value]) => [`${prefix}.${name}`, value] as const);
}
