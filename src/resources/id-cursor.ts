/**
 * Cursors of lists, in base64url: the last key of a page. In a sorted list a space follows, and the
 * text that placed that record.
 */
import { AppError } from '../base/errors.ts';

export function encodeIdCursor(id: string): string {
  return Buffer.from(id).toString('base64url');
}

/** The key after which the next page begins; null without a cursor. Throws `malformed`. */
export function decodeIdCursor(cursor: string | null): string | null {
  if (cursor === null) return null;
  const id = Buffer.from(cursor, 'base64url').toString();
  if (/^[A-Za-z0-9._~-]{1,128}$/.test(id)) return id;
  throw new AppError('malformed', '`cursor` is not one that this service gave');
}

/** The place of a record in a list: '' in one in key order. */
export type SortPosition = { readonly id: string; readonly sortText: string };

export function encodeSortCursor({ id, sortText }: SortPosition): string {
  return encodeIdCursor(sortText === '' ? id : `${id} ${sortText}`);
}

/** The place after which the next page begins; null without a cursor. Throws `malformed`. */
export function decodeSortCursor(cursor: string | null): SortPosition | null {
  if (cursor === null) return null;
  const [id = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  decodeIdCursor(encodeIdCursor(id));
  return { id, sortText: rest.join(' ') };
}
