/**
 * The cursor of a page: where it ended, as the opaque text in a `Link`. It holds the sort values
 * and the id of the page's last book and the query's fingerprint, but no state of the server, so it
 * never expires.
 *
 * Format: base64url of one byte and the JSON array [fingerprint, value…, id], with a value for
 * each order of the sort. When words of the query were corrected, an array follows, so that later
 * pages have the same corrections: for each place that words are looked for in, an array of its
 * name and the pairs [word, correction]. The byte is 0 when the JSON is plain and 1 when it is
 * deflated (long titles, to fit the limits of a URL). A value is text for a title or an author, a
 * number for times, and null for a book without it.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { AppError } from '../../base/errors.ts';
import { decodeByteString, encodeByteString } from '../../base/text/fold.ts';
import { foreignQueryError, malformed } from '../../server/query.ts';
import type { BookFilter } from './book-filter.ts';
import type { BookPosition, BookSort, SortOrder } from './book-sort.ts';
import { NO_CORRECTIONS, parseCorrections, toCursorMember } from './corrections.ts';
import type { Corrections } from './corrections.ts';
import { SORT_ROWS } from './sort-keys.ts';
import type { SortValue } from './sort-keys.ts';

const PLAIN_BYTES_MAX = 200;
// A title of 1000 characters can fold to 18 times as many; we never write more.
const JSON_BYTES_MAX = 128 * 1024;
const ID = /^[A-Za-z0-9._~-]{1,128}$/;

export function encodeCursor(
  position: BookPosition, fingerprint: string, corrections: Corrections = NO_CORRECTIONS,
): string {
  const { sortValues, id } = position;
  const values = sortValues.map((value) =>
    typeof value === 'string' ? decodeByteString(value) : value);
  const tail = corrections.size === 0 ? [id] : [id, toCursorMember(corrections)];
  const json = Buffer.from(JSON.stringify([fingerprint, ...values, ...tail]));
  const isPlain = json.length <= PLAIN_BYTES_MAX;
  const body = isPlain ? json : deflateRawSync(json, { level: 9 });
  return Buffer.concat([Buffer.of(isPlain ? 0 : 1), body]).toString('base64url');
}

/** The parts of a cursor that the next page needs. */
type DecodedCursor = { readonly position: BookPosition; readonly corrections: Corrections };

/**
 * `filter` is that of the query as it was given. Throws `malformed` when it is not a cursor or
 * belongs to another query.
 */
export function decodeCursor(
  text: string, fingerprint: string, { orders }: BookSort, filter: Pick<BookFilter, 'words'>,
): DecodedCursor {
  const members = decodeMembers(text);
  if (members === null) throw foreignCursor();
  const [ownerFingerprint, ...position] = members;
  if (ownerFingerprint !== fingerprint) throw foreignQueryError();
  const corrections = Array.isArray(position.at(-1))
    ? parseCorrections(position.pop(), filter) : NO_CORRECTIONS;
  const id = position.pop();
  const isSound = typeof id === 'string' && ID.test(id) && position.length === orders.length;
  if (!isSound || corrections === null) throw foreignCursor();
  const sortValues = orders.map(({ key }, index) => decodeValue(key, position[index]));
  return { position: { sortValues, id }, corrections };
}

function foreignCursor(): AppError {
  return malformed('`cursor` is not one that a `Link` header gave: begin again without it');
}

/** Throws `malformed` for what no book has for the key. */
function decodeValue(key: SortOrder['key'], value: unknown): SortValue {
  const { isText = false, isOptional = false } = SORT_ROWS[key];
  if (isText && typeof value === 'string') return encodeByteString(value);
  if (!isText && typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (isOptional && value === null) return null;
  throw foreignCursor();
}

/** The members of the JSON, which may be anything; null when the text holds no array. */
function decodeMembers(text: string): readonly unknown[] | null {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  const body = bytes.subarray(1);
  try {
    const json = bytes[0] === 0
      ? body : inflateRawSync(body, { maxOutputLength: JSON_BYTES_MAX });
    const members: unknown = JSON.parse(json.toString());
    return Array.isArray(members) ? members : null;
  } catch {
    return null;
  }
}
