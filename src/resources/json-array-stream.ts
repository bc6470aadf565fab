/** Records as the text of one JSON array, piece by piece. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pull } from '../server/http-route.ts';

/** Bytes of records that are copied together, and that one turn of the loop makes. */
export const PIECE_BYTES = 65_536;

/** What stands between two records, and after the last. */
type ArrayPunctuation = { readonly separator: Buffer; readonly end: Buffer };

const START = Buffer.from('[');
const COMPACT: ArrayPunctuation = { separator: Buffer.from(','), end: Buffer.from(']') };

/**
 * Puts brackets and separators around pieces that come one after the other, each some records with
 * their separators between them; null for the end. Gives what to send, and null after that.
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
 * The records that `next` gives until it gives null, as one array. Making them may be work: after
 * each piece others have their turn.
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
