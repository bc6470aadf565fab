/** Looks through records in steps; between two of them the event loop serves others. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Collection } from '../../store/store-port.ts';

// A step is some two milliseconds of work. Parsing a byte costs some sixteen times as much as
// looking for something in it, and a record may be large: it holds answers and a body.
const STEP_RECORDS = 2000;
const STEP_BYTES = 1 << 22;
const PARSED_WEIGHT = 16;
/** Sorts after every identifier. */
const END = '\uffff';

/** What was done with a record; `done` ends the walk. */
type Visit = (bytes: Buffer, slot: number) => 'searched' | 'parsed' | 'done';

/** Visits records in order of identifier, in steps between which the event loop serves others. */
export async function visitInSteps(
  collection: Collection, visit: Visit, after: string | null = null, isDescending = false,
): Promise<void> {
  const walk = collection.walk({ after, isDescending });
  let records = 0;
  let weight = 0;
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const bytes = collection.bytesAt(slot);
    if (bytes === undefined) continue;
    const visited = visit(bytes, slot);
    if (visited === 'done') return;
    records += 1;
    weight += visited === 'parsed' ? bytes.length * PARSED_WEIGHT : bytes.length;
    if (records < STEP_RECORDS && weight < STEP_BYTES) continue;
    [records, weight] = [0, 0];
    await nextTurn();
  }
}

/**
 * Calls `add` with 1 for every record, and with 1 or -1 for what is written meanwhile as it is
 * applied, so that `result` is of one moment. `look` may look closer at a record.
 */
export async function countInSteps<T>(
  collection: Collection, add: (bytes: Buffer, by: 1 | -1) => void, result: () => T,
  look: Visit = () => 'searched',
): Promise<T> {
  let seen = '';
  const unlisten = collection.onChange(({ id, before, after }) => {
    if (id > seen) return;
    if (before !== null) add(before, -1);
    if (after !== null) add(after, 1);
  });
  try {
    await visitInSteps(collection, (bytes, slot) => {
      seen = collection.idAt(slot) ?? seen;
      add(bytes, 1);
      return look(bytes, slot);
    });
    seen = END;
    return result();
  } finally {
    unlisten();
  }
}
