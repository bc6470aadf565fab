/** What people do with deliveries: look, try again, cancel, and check that the books balance. */
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Collection, Store, Transaction } from '../../store/port.ts';
import {
  cancelled, deliveryCollection, readDelivery, retried, statusOf,
  type Delivery, type DeliveryStatus,
} from './delivery.ts';
import { Steps, countDeliveries, listDeliveries, type DeliveryFilter } from './list.ts';
import type { FanOuts } from './fan-out.ts';
import {
  CHUNK, chunkOf, decodeTotals, fanOutCollection, readTotals, sizesIn, Tally, totalsRecord,
  type Totals,
} from './unit-of-work.ts';
import { eventCollection, hasDelivery } from './message.ts';
import { outgoingCollection } from '../outgoing/webhook.ts';
import type { QueueRoom } from './capacity.ts';

export type Reconciliation = Totals & {
  readonly isReconciled: boolean;
  /** What does not add up, one sentence each; the first hundred. */
  readonly problems: readonly string[];
};

export interface DeliveryDesk {
  /** Up to `limit` deliveries after key `after`, in order of creation. */
  list(filter: DeliveryFilter, after: string | null, limit: number): Promise<Delivery[]>;
  /** How many there are in all. */
  count(filter: DeliveryFilter): Promise<number>;
  find(identifier: string): Delivery | undefined;
  /** Due now. Throws `not_found`, `conflict` when it was delivered or cancelled, `unavailable`. */
  retry(identifier: string): Promise<Delivery>;
  /** Every failed one; how many. */
  retryFailed(): Promise<number>;
  /** Throws `not_found`, `conflict` when it is delivered or failed. */
  cancel(identifier: string): Promise<Delivery>;
  reconcile(): Promise<Reconciliation>;
  totals(): Totals;
}

const PROBLEMS_MAX = 100;

export function createDeliveryDesk(parts: {
  readonly store: Store; readonly fanOuts: Pick<FanOuts, 'settled' | 'unwritten'>;
  readonly clock: Clock; readonly room: QueueRoom;
}): DeliveryDesk {
  const { store, fanOuts, clock, room } = parts;
  const records = store.collection(deliveryCollection.name);
  const find = (identifier: string): Delivery | undefined => {
    const bytes = records.find(identifier)?.bytes;
    return bytes === undefined ? undefined : readDelivery(bytes);
  };
  const change = (
    identifier: string, apply: (transaction: Transaction, before: Delivery) => Delivery | null,
  ): Promise<Delivery> => store.transact((transaction) => {
    const bytes = transaction.find(deliveryCollection.name, identifier);
    if (bytes === undefined) throw notFound(identifier);
    const before = readDelivery(bytes);
    const tally = new Tally(transaction);
    const after = tally.change(identifier, () => apply(transaction, before));
    tally.close();
    return after ?? before;
  });
  const totals = (): Totals =>
    decodeTotals(store.collection(totalsRecord.collection).find(totalsRecord.identifier)?.bytes);
  return {
    find,
    totals,
    async list(filter, after, limit) {
      await fanOuts.settled();
      return listDeliveries(store, filter, after, limit);
    },
    async count(filter) {
      await fanOuts.settled();
      if (filter.hook !== null) return countDeliveries(store, filter);
      if (filter.status === null) return records.size;
      return totals()[filter.status] - (filter.status === 'pending' ? fanOuts.unwritten : 0);
    },
    async retry(identifier) {
      const nowMs = clock.now();
      return change(identifier, (transaction, before) =>
        tryAgain(transaction, before, nowMs, room));
    },
    async retryFailed() {
      const sizeOf = sizesIn(store);
      let count = 0;
      let after: string | null = null;
      for (;;) {
        const failed: Delivery[] =
          await listDeliveries(store, { status: 'failed', hook: null }, after, CHUNK);
        after = failed.at(-1)?.identifier ?? null;
        if (after === null) return count;
        for (let rest = failed; rest.length > 0;) {
          const chunk = chunkOf(rest, ({ identifier }) => sizeOf(identifier));
          count += await retryAll(store, chunk, clock.now(), room);
          rest = rest.slice(chunk.length);
        }
      }
    },
    async cancel(identifier) {
      const nowMs = clock.now();
      return change(identifier, (_, before) => {
        if (before.status === 'pending') return cancelled(before, nowMs);
        if (before.status === 'cancelled') return null;
        throw new AppError('conflict', `delivery ${identifier} is ${before.status} already`);
      });
    },
    async reconcile() {
      await fanOuts.settled();
      return reconcile(store, fanOuts, totals);
    },
  };
}

function tryAgain(
  transaction: Transaction, before: Delivery, nowMs: number, room: QueueRoom,
): Delivery {
  const { status, hook, identifier } = before;
  if (status === 'delivered' || status === 'cancelled') {
    throw new AppError('conflict', `delivery ${identifier} is ${status}; only failed and pending `
      + 'ones can be tried again');
  }
  if (hook !== null && transaction.find(outgoingCollection.name, hook) === undefined) {
    throw new AppError('conflict', `the webhook of delivery ${identifier} is gone`);
  }
  // Its bytes count as they are: it is kept.
  if (status === 'failed') room.check(readTotals(transaction).pending, 1, 0);
  return retried(before, nowMs);
}

function retryAll(
  store: Store, failed: readonly Delivery[], nowMs: number, room: QueueRoom,
): Promise<number> {
  return store.transact((transaction) => {
    room.check(readTotals(transaction).pending, failed.length, 0);
    const tally = new Tally(transaction);
    let count = 0;
    for (const { identifier, hook } of failed) {
      const isGone = hook !== null
        && transaction.find(outgoingCollection.name, hook) === undefined;
      if (isGone) continue;
      const after = tally.change(identifier, (before) =>
        before.status === 'failed' ? retried(before, nowMs) : null);
      if (after !== undefined) count += 1;
    }
    tally.close();
    return count;
  });
}

/**
 * Counts what is stored beside the totals that every change keeps. Changes during the count are
 * counted as they are applied, so the comparison is of one moment.
 */
async function reconcile(
  store: Store, fanOuts: Pick<FanOuts, 'unwritten'>, totals: () => Totals,
): Promise<Reconciliation> {
  const records = store.collection(deliveryCollection.name);
  const messages = store.collection(eventCollection.name);
  const counts = { pending: 0, delivered: 0, failed: 0, cancelled: 0 };
  const problems: string[] = [];
  let seen = '';
  let isAllSeen = false;
  const unlisten = records.onChange(({ id, before, after }) => {
    if (id > seen && !isAllSeen) return;
    if (before !== null) counts[statusOf(before)] -= 1;
    if (after !== null) counts[statusOf(after)] += 1;
  });
  try {
    const walk = records.walk();
    const steps = new Steps();
    for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
      const bytes = records.bytesAt(slot);
      if (bytes === undefined) continue;
      seen = records.idAt(slot) ?? seen;
      const status = statusOf(bytes);
      counts[status] += 1;
      if (status === 'pending' && hasLostMessage(messages, readDelivery(bytes))) {
        problems.push(`pending delivery ${seen} has lost its payload`);
      }
      const pause = steps.next(bytes.length, status === 'pending');
      if (pause !== null) await pause;
    }
    isAllSeen = true;
    await findOrphans(store, problems);
    counts.pending += fanOuts.unwritten;
    return compare(totals(), counts, problems);
  } finally {
    unlisten();
  }
}

function hasLostMessage(messages: Collection, { carried, message }: Delivery): boolean {
  return carried === null && messages.slotOf(message) === -1;
}

async function findOrphans(store: Store, problems: string[]): Promise<void> {
  const messages = store.collection(eventCollection.name);
  const records = store.collection(deliveryCollection.name);
  const fanOuts = store.collection(fanOutCollection.name);
  const walk = messages.walk();
  const steps = new Steps();
  for (let slot = walk.next(); slot !== -1; slot = walk.next()) {
    const bytes = messages.bytesAt(slot);
    const isNeeded = bytes === undefined
      || hasDelivery(bytes, (id) => records.slotOf(id) !== -1)
      || fanOuts.find(messages.idAt(slot) ?? '') !== undefined;
    if (!isNeeded) problems.push(`payload ${messages.idAt(slot)} belongs to no delivery`);
    const pause = steps.next(bytes?.length ?? 0, false);
    if (pause !== null) await pause;
  }
}

function compare(
  totals: Totals, counts: Readonly<Record<DeliveryStatus, number>>, problems: string[],
): Reconciliation {
  for (const status of ['pending', 'delivered', 'failed', 'cancelled'] as const) {
    if (totals[status] === counts[status]) continue;
    problems.push(`${totals[status]} deliveries should be ${status}, and ${counts[status]} are`);
  }
  const { accepted, pending, delivered, failed, cancelled: dropped, agedOut } = totals;
  const sum = pending + delivered + failed + dropped + agedOut;
  if (accepted !== sum) problems.push(`${accepted} were accepted, and ${sum} are accounted for`);
  return {
    ...totals, isReconciled: problems.length === 0, problems: problems.slice(0, PROBLEMS_MAX),
  };
}

function notFound(identifier: string): AppError {
  return new AppError('not_found', `there is no delivery ${JSON.stringify(identifier)}`);
}
