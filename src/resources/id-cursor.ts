/**
 * Cursors of lists, in base64url: the last key of a page. In a sorted list the sort and the text
 * that placed that record follow, a space before each.
 */
import { AppError } from '../base/errors.ts';
import { foreignQueryError } from '../server/query.ts';

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

/** `sort` is '' in a list in key order. */
export function encodeSortCursor({ id, sortText }: SortPosition, sort: string): string {
  return encodeIdCursor(sort === '' ? id : `${id} ${sort} ${sortText}`);
}

/**
 * The place after which the next page begins; null without a cursor. Throws `malformed`, also for
 * the cursor of another sort.
 */
export function decodeSortCursor(cursor: string | null, sort: string): SortPosition | null {
  if (cursor === null) return null;
  const [id = '', ownSort = '', ...rest] = Buffer.from(cursor, 'base64url').toString().split(' ');
  decodeIdCursor(encodeIdCursor(id));
  if (ownSort !== sort) throw foreignQueryError();
  return { id, sortText: rest.join(' ') };
}
