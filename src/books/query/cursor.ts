/**
 * The cursor of a page: where it ended, as the opaque text in a `Link`. It holds the sort key and
 * the id of the page's last book and the query's fingerprint, but no state of the server, so it
 * never expires.
 *
 * Format: base64url of one byte and the JSON array [fingerprint, key, id]. The byte is 0 when the
 * JSON is plain and 1 when it is deflated (long titles, to fit the limits of a URL). The key
 * is text for a title, a number for times, and null for a book without it.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { decodeByteString, encodeByteString } from '../../base/text/fold.ts';
import { malformed } from './query-parameters.ts';
import type { SortKey } from './query-parameters.ts';

/** A book's position in a sorted list. A title's key is a byte string (`encodeByteString`). */
export type BookPosition = { readonly key: SortValue; readonly id: string };
export type SortValue = string | number | null;

const PLAIN_BYTES_MAX = 200;
// A title of 1000 characters can fold to 18 times as many; we never write more.
const JSON_BYTES_MAX = 128 * 1024;
const ID = /^[A-Za-z0-9._~-]{1,128}$/;

export function encodeCursor(position: BookPosition, fingerprint: string): string {
  const { key, id } = position;
  const keyText = typeof key === 'string' ? decodeByteString(key) : key;
  const json = Buffer.from(JSON.stringify([fingerprint, keyText, id]));
  const isPlain = json.length <= PLAIN_BYTES_MAX;
  const body = isPlain ? json : deflateRawSync(json, { level: 9 });
  return Buffer.concat([Buffer.of(isPlain ? 0 : 1), body]).toString('base64url');
}

/** Throws `malformed` when it is not a cursor or belongs to another query. */
export function decodeCursor(text: string, fingerprint: string, sortKey: SortKey): BookPosition {
  const members = decodeMembers(text);
  if (members === null) throw malformed('`cursor` is not one that a `Link` header gave');
  const [ownerFingerprint, key, id] = members;
  if (ownerFingerprint !== fingerprint) {
    throw malformed('`cursor` belongs to another query: repeat the parameters it was given with');
  }
  if (!isValidKey(sortKey, key) || typeof id !== 'string' || !ID.test(id)) {
    throw malformed('`cursor` is not one that a `Link` header gave');
  }
  return { key: decodeKey(key), id };
}

function isValidKey(sortKey: SortKey, key: unknown): boolean {
  if (sortKey === 'id') return key === null;
  if (sortKey === 'title') return typeof key === 'string';
  return Number.isSafeInteger(key) || (key === null && sortKey === 'datePublished');
}

function decodeKey(key: unknown): SortValue {
  if (typeof key === 'string') return encodeByteString(key);
  return typeof key === 'number' ? key : null;
}

/** The three members of the JSON, which may be anything; null when the text holds no such array. */
function decodeMembers(text: string): readonly unknown[] | null {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  const body = bytes.subarray(1);
  try {
    const json = bytes[0] === 0
      ? body : inflateRawSync(body, { maxOutputLength: JSON_BYTES_MAX });
    const members: unknown = JSON.parse(json.toString());
    return Array.isArray(members) && members.length === 3 ? members : null;
  } catch {
    return null;
  }
}
