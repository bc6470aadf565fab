/** Looks through deliveries in steps; between two of them the event loop serves others. */
import type { Collection, Store } from '../../store/port.ts';
import { decodeDelivery, statusOf } from './codec.ts';
import { deliveryCollection, type Delivery, type DeliveryStatus } from './delivery.ts';
import { messageStart } from './message.ts';

export type DeliveryFilter = {
  readonly status: DeliveryStatus | null;
  readonly hook: string | null;
};

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
  collection: Collection, visit: Visit, after: string | null = null,
): Promise<void> {
  const walk = collection.walk({ after });
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
    await new Promise((resolve) => void setImmediate(resolve));
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

/** Up to `limit` deliveries after key `after`, in order of creation. */
export async function listDeliveries(
  store: Store, filter: DeliveryFilter, after: string | null, limit: number,
): Promise<Delivery[]> {
  const isWanted = matcherOf(filter);
  const found: Delivery[] = [];
  await visitInSteps(store.collection(deliveryCollection.name), (bytes) => {
    if (!isWanted(bytes)) return 'searched';
    found.push(decodeDelivery(bytes));
    return found.length < limit ? 'parsed' : 'done';
  }, after);
  return found;
}

export function countDeliveries(store: Store, filter: DeliveryFilter): Promise<number> {
  const isWanted = matcherOf(filter);
  let count = 0;
  return countInSteps(store.collection(deliveryCollection.name), (bytes, by) => {
    if (isWanted(bytes)) count += by;
  }, () => count);
}

function matcherOf({ status, hook }: DeliveryFilter): (bytes: Buffer) => boolean {
  const hookMark = Buffer.from(`"hook":${JSON.stringify(hook)}`);
  return (bytes) => (status === null || statusOf(bytes) === status)
    && (hook === null || isOfDelivery(bytes, bytes.indexOf(hookMark)));
}

// Before its message nothing in a record but the member itself reads like the mark, as quotes in a
// string are escaped. The message may hold anything.
function isOfDelivery(bytes: Buffer, markAt: number): boolean {
  if (markAt === -1) return false;
  const end = messageStart(bytes);
  return end === -1 || markAt < end;
}
