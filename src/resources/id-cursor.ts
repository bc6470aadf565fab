/**
 * Cursors of lists, in base64url: the last key of a page. In a list with parameters a space and
 * their checksum follow; in a sorted list a space and the text that placed the record follow, too.
 */
import { crc32 } from 'node:zlib';
import { AppError } from '../base/errors.ts';
import { foreignQueryError } from '../server/query.ts';

/** The parameters that all pages of a list have: names and values, as they came. */
export type PageParameters = readonly (readonly [string, string])[];

/** The place of a record in a list; `sortText` is '' in a list in key order. */
export type SortPosition = { readonly id: string; readonly sortText: string };

export function encodeIdCursor(
  { id, sortText }: SortPosition, parameters: PageParameters,
): string {
  const text = parameters.length === 0 ? id
    : `${id} ${computeChecksum(parameters)} ${sortText}`;
  return Buffer.from(text).toString('base64url');
}

/**
 * The place after which the next page begins; null without a cursor. Throws `malformed`, also for
 * the cursor of a list with other parameters.
 */
export function decodeIdCursor(
  cursor: string | null, parameters: PageParameters,
): SortPosition | null {
  if (cursor === null) return null;
  const [id = '', checksum = '', ...rest] =
    Buffer.from(cursor, 'base64url').toString().split(' ');
  if (!/^[A-Za-z0-9._~-]{1,128}$/.test(id)) {
    throw new AppError('malformed', '`cursor` is not one that this service gave');
  }
  if (checksum !== computeChecksum(parameters)) throw foreignQueryError();
  return { id, sortText: rest.join(' ') };
}

/** The checksum does not depend on the order of the parameters; '' without parameters. */
function computeChecksum(parameters: PageParameters): string {
  if (parameters.length === 0) return '';
  const texts = parameters.map((parameter) => JSON.stringify(parameter)).sort();
  return crc32(texts.join()).toString(36);
}
