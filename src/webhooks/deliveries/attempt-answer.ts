/**
 * The answer to an attempt in words, for the console and the commands; the API has the code
 * alone. The console's scripts have this file too: it imports nothing.
 */

/** A timeout has one code, also where the target took the connection and answered too late. */
const WORDS: ReadonlyMap<unknown, string> = new Map([
  ['ETIMEDOUT', 'no connection or answer in time (ETIMEDOUT)'],
  ['ECONNREFUSED', 'nothing listens there (ECONNREFUSED)'],
  ['ENOTFOUND', 'no such host name (ENOTFOUND)'],
]);

/** The status or the error, both after a 401 (`AuthorizedResponse`); null without either. */
export function formatAnswer(statusCode: unknown, error: unknown): string | null {
  return [statusCode, WORDS.get(error) ?? error]
    .filter((one) => one !== null && one !== undefined).join(': ') || null;
}
