/** Cursors of lists in key order: the last key of a page, in base64url. */
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
