/** Streams records as one JSON array. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pull } from '../server/http-route.ts';

/** Bytes of records that one turn of the event loop copies into a piece. */
export const PIECE_BYTES = 65_536;

/** The bytes between two records, and after the last. */
type ArrayPunctuation = { readonly separator: Buffer; readonly end: Buffer };

const START = Buffer.from('[');
const COMPACT: ArrayPunctuation = { separator: Buffer.from(','), end: Buffer.from(']') };

/**
 * Makes a function that takes the pieces of an array (one or more records with separators between
 * them, and null at the end), and adds brackets and separators. It returns the buffers to send, and
 * null once all are sent.
 */
export function frameArray(
  { separator, end }: ArrayPunctuation = COMPACT,
): (piece: readonly Buffer[] | null) => readonly Buffer[] | null {
  let nextPrefix: Buffer | null = START;
  return (piece) => {
    if (nextPrefix === null) return null;
    const prefix = nextPrefix;
    nextPrefix = piece === null ? null : separator;
    if (piece !== null) return [prefix, ...piece];
    return prefix === START ? [START, end] : [end];
  };
}

/**
 * Streams the records that `next` returns until it returns null. Making them may be work: after
 * each piece the event loop serves other requests.
 */
export function streamRecords(next: () => Buffer | null | Promise<Buffer | null>): Pull {
  const frame = frameArray();
  let isFirst = true;
  let isDone = false;
  return async () => {
    if (isDone) return frame(null);
    if (!isFirst) await nextTurn();
    isFirst = false;
    const records: Buffer[] = [];
    for (let bytes = 0; bytes < PIECE_BYTES && !isDone;) {
      const record = await next();
      isDone = record === null;
      if (record === null) break;
      if (records.length > 0) records.push(COMPACT.separator);
      records.push(record);
      bytes += record.length;
    }
    return frame(records.length === 0 ? null : [Buffer.concat(records)]);
  };
}
