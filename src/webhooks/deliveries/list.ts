/** Looks through deliveries in steps; between two of them the event loop serves others. */
import type { Store } from '../../store/port.ts';
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

/** Says when it is time to let the event loop serve others. */
export class Steps {
  #records = 0;
  #bytes = 0;

  /** Resolves when the next record may be looked at; null: now. */
  next(bytes: number, isParsed: boolean): Promise<void> | null {
    this.#records += 1;
    this.#bytes += isParsed ? bytes * PARSED_WEIGHT : bytes;
    if (this.#records < STEP_RECORDS && this.#bytes < STEP_BYTES) return null;
    this.#records = 0;
    this.#bytes = 0;
    return new Promise((resolve) => void setImmediate(resolve));
  }
}

/** Up to `limit` deliveries after key `after`, in order of creation. */
export async function listDeliveries(
  store: Store, filter: DeliveryFilter, after: string | null, limit: number,
): Promise<Delivery[]> {
  const collection = store.collection(deliveryCollection.name);
  const walk = collection.walk({ after });
  const isWanted = matcherOf(filter);
  const steps = new Steps();
  const found: Delivery[] = [];
  for (let slot = walk.next(); slot !== -1 && found.length < limit; slot = walk.next()) {
    const bytes = collection.bytesAt(slot);
    if (bytes === undefined) continue;
    const isFound = isWanted(bytes);
    if (isFound) found.push(decodeDelivery(bytes));
    const pause = steps.next(bytes.length, isFound);
    if (pause !== null) await pause;
  }
  return found;
}

/** How many records match. What is written meanwhile is counted as it is applied. */
export async function countDeliveries(store: Store, filter: DeliveryFilter): Promise<number> {
  const collection = store.collection(deliveryCollection.name);
  const isWanted = matcherOf(filter);
  const steps = new Steps();
  let count = 0;
  let seen = '';
  const unlisten = collection.onChange(({ id, before, after }) => {
    if (id > seen) return;
    if (before !== null && isWanted(before)) count -= 1;
    if (after !== null && isWanted(after)) count += 1;
  });
  try {
    const walk = collection.walk();
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = collection.bytesAt(slot);
      if (bytes === undefined) continue;
      if (isWanted(bytes)) count += 1;
      const pause = steps.next(bytes.length, false);
      if (pause === null) continue;
      seen = collection.idAt(slot) ?? seen;
      await pause;
    }
    return count;
  } finally {
    unlisten();
  }
}

function matcherOf({ status, hook }: DeliveryFilter): (bytes: Buffer) => boolean {
  const hookMark = Buffer.from(`"hook":${JSON.stringify(hook)}`);
  return (bytes) => (status === null || statusOf(bytes) === status)
    && (hook === null || isOfDelivery(bytes, bytes.indexOf(hookMark)));
}

// Up to its message nothing in a record but the member reads like a mark: within a string the
// quotes are escaped. The message holds whatever was given.
function isOfDelivery(bytes: Buffer, markAt: number): boolean {
  if (markAt === -1) return false;
  const end = messageStart(bytes);
  return end === -1 || markAt < end;
}
