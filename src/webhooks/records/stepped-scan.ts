/** Scans collections in steps. Between two steps the event loop serves others. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Collection, Walk } from '../../store/store-port.ts';

// A step takes about two milliseconds. Parsing a byte costs about sixteen times as much as
// searching it, and a record may be large: it holds responses and a body.
const STEP_RECORDS = 2000;
const STEP_BYTES = 1 << 22;
const PARSED_WEIGHT = 16;
/** A text that sorts after every identifier. */
const AFTER_EVERY_ID = '\uffff';

export type SlotIterator = Pick<Walk, 'next'>;

/** Looks at a record. Returns how closely, because that is the cost; `done` ends the scan. */
type RecordVisitor = (bytes: Buffer, slot: number) => 'passed' | 'searched' | 'parsed' | 'done';

/** Visits the records of a walk in steps; by default all of them, in order of identifier. */
export async function visitInSteps(
  collection: Collection, visit: RecordVisitor, walk: SlotIterator = collection.walk(),
): Promise<void> {
  let records = 0;
  let weight = 0;
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const bytes = collection.bytesAt(slot);
    if (bytes === undefined) continue;
    const cost = visit(bytes, slot);
    if (cost === 'done') return;
    records += 1;
    if (cost === 'searched') weight += bytes.length;
    if (cost === 'parsed') weight += bytes.length * PARSED_WEIGHT;
    if (records < STEP_RECORDS && weight < STEP_BYTES) continue;
    [records, weight] = [0, 0];
    await nextTurn();
  }
}

/**
 * Calls `add` with 1 for every record. Records that are written meanwhile are added (1) and
 * subtracted (-1) as they are applied, so that `result` is called on the counts of one moment.
 * `add` may parse the record.
 */
export async function countInSteps<T>(
  collection: Collection, add: (bytes: Buffer, by: 1 | -1, id: string) => void,
  result: () => T,
): Promise<T> {
  let lastSeenId = '';
  const unlisten = collection.onChange(({ id, before, after }) => {
    if (id > lastSeenId) return;
    if (before !== null) add(before, -1, id);
    if (after !== null) add(after, 1, id);
  });
  try {
    await visitInSteps(collection, (bytes, slot) => {
      lastSeenId = collection.idAt(slot) ?? lastSeenId;
      add(bytes, 1, lastSeenId);
      return 'parsed';
    });
    lastSeenId = AFTER_EVERY_ID;
    return result();
  } finally {
    unlisten();
  }
}
