/**
 * The fields that the metadata of a book keep of another program's record: exports write them
 * again, and imports match by the own id. They are `{"source":{"<format>":{"<field>":…}}}`; callers
 * may write there too, so anything may stand in it.
 */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { isRounded } from './isbn-text.ts';

/**
 * The member beside `source` that has digests of what the sources said: last-import.ts has its
 * form. It says nothing of the book.
 */
export const DIGESTS_MEMBER = 'x-hookshelf';

/**
 * The field of a format that has, by their names, the members that it says otherwise than the book
 * (kept-values.ts). No format has such a field itself.
 */
export const SOURCE_MEMBERS = 'members';

/** The fields from a record of the format; null where there are none. */
export function findSource(
  format: string, metadata: JsonValue | undefined | null,
): JsonObject | null {
  const sources = isJsonObject(metadata) ? metadata['source'] : undefined;
  const fields = isJsonObject(sources) ? sources[format] : undefined;
  return isJsonObject(fields) ? fields : null;
}

/**
 * The first own id of the fields, which is a text or a number; null where there is none, as where a
 * spreadsheet has rounded it: many books would have the same.
 */
export function findOwnId(fields: JsonObject, ownIdFields: readonly string[]): string | null {
  for (const name of ownIdFields) {
    const id = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const isId = isJsonNumber(id) || (typeof id === 'string' && id !== '' && !isRounded(id));
    if (isId) return String(id);
  }
  return null;
}

/** The book with these fields of the format, and without empty objects in their place. */
export function putSource(book: JsonObject, format: string, fields: JsonObject): JsonObject {
  const metadata = asObject(book['metadata']);
  const sources = putObject(asObject(metadata['source']), format, fields);
  return putObject(book, 'metadata', putObject(metadata, 'source', sources));
}

/** The object; an empty one where something else, or nothing, stands. */
export function asObject(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The object with another object as a member, which an empty one takes away. */
export function putObject(object: JsonObject, name: string, member: JsonObject): JsonObject {
  const { [name]: _, ...others } = object;
  return Object.keys(member).length === 0 ? others : { ...others, [name]: member };
}
