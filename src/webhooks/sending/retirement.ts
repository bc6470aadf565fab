/**
 * The end of a hook and of all that waits for it, a chunk a transaction. Where the target said that
 * it is gone for good (410) the hook is disabled and its deliveries fail; meanwhile the target is
 * asked no more. Where the hook is removed they are cancelled.
 */
import { sleep, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { decodeRecord, encodeRecord, nextStamps } from '../../resources/record.ts';
import type { Store, Transaction } from '../../store/port.ts';
import {
  cancelled, deliveryCollection, finished, readDelivery, type Delivery,
} from '../deliveries/delivery.ts';
import { CHUNK, Tally, chunkOf, inTally, sizesIn } from '../deliveries/unit-of-work.ts';
import type { OutgoingIndex } from '../outgoing/webhook-index.ts';
import { outgoingCollection } from '../outgoing/webhook.ts';

export type RetirementParts = {
  readonly store: Store;
  readonly hooks: Pick<OutgoingIndex, 'find'>;
  readonly clock: Clock;
  /** Up to `max` of a hook's pending deliveries, as committed. */
  readonly pendingOf: (hook: string, max: number) => readonly string[];
  readonly log: Logger;
  /** True once nothing more is to be waited for. */
  readonly isClosed: () => boolean;
  /** Told when a hook is being retired, and when that is over. */
  readonly onChange: (hook: string) => void;
};

type Change = (before: Delivery) => Delivery;

const RETRY_MS = 1000;

export class Retirement {
  readonly #parts: RetirementParts;
  readonly #hooks = new Set<string>();

  constructor(parts: RetirementParts) {
    this.#parts = parts;
  }

  /** Whether a hook is being retired, so that nothing of it may start. */
  has(hook: string): boolean {
    return this.#hooks.has(hook);
  }

  /**
   * Retires the hook of a delivery, which becomes what `change` makes of it; the delivery as
   * written. Null when there is no hook to retire, or it is being retired already.
   */
  async run(
    identifier: string, nowMs: number, change: Change,
  ): Promise<{ readonly delivery: Delivery | undefined } | null> {
    const bytes = this.#parts.store.collection(deliveryCollection.name).find(identifier)?.bytes;
    const hook = bytes === undefined ? null : readDelivery(bytes).hook;
    if (hook === null || this.#hooks.has(hook)) return null;
    this.#hooks.add(hook);
    this.#parts.onChange(hook);
    try {
      return { delivery: await retire(this.#parts, hook, identifier, nowMs, change) };
    } finally {
      this.#hooks.delete(hook);
      this.#parts.onChange(hook);
    }
  }

  /** Cancels what is pending for a hook, as long as there is no such hook. */
  async cancel(hook: string): Promise<void> {
    const { store, hooks, clock, pendingOf } = this.#parts;
    // Not at once: a listener hears of a change while the rest of its transaction is not applied.
    await Promise.resolve();
    for (;;) {
      const ids = chunkOf(pendingOf(hook, CHUNK), sizesIn(store));
      if (ids.length === 0 || hooks.find(hook) !== undefined) return;
      const nowMs = clock.now();
      await inTally(store, (tally) =>
        ids.forEach((id) => tally.change(id, (before) => cancelled(before, nowMs))));
    }
  }

  /** The same where nobody hears that the store takes no writes: once it does. */
  async cancelInTime(hook: string): Promise<void> {
    const { clock, log, isClosed } = this.#parts;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await this.cancel(hook);
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown;
        if (isFirst) {
          log.error('deliveries of a removed webhook wait to be cancelled', {
            hook, error: thrown,
          });
        }
      }
      if (isClosed()) return;
      await sleep(clock, RETRY_MS);
    }
  }
}

// The last step holds the delivery itself and disables the hook, so a crash before it only means
// that the target is asked once more.
async function retire(
  { store, pendingOf }: RetirementParts, hook: string, identifier: string, nowMs: number,
  change: Change,
): Promise<Delivery | undefined> {
  const others = (): string[] =>
    pendingOf(hook, CHUNK + 1).filter((other) => other !== identifier);
  const fail = (tally: Tally, ids: readonly string[]): void => {
    for (const id of ids) {
      tally.change(id, (before) =>
        before.status === 'pending' ? finished(before, 'failed', nowMs) : null);
    }
  };
  let last = others();
  for (;;) {
    const ids = chunkOf(last, sizesIn(store));
    if (ids.length === last.length && last.length < CHUNK) break;
    await inTally(store, (tally) => fail(tally, ids));
    last = others();
  }
  return store.transact((transaction) => {
    const tally = new Tally(transaction);
    const changed = tally.change(identifier, change);
    fail(tally, last);
    tally.close();
    disableHook(transaction, hook, nowMs);
    return changed;
  });
}

function disableHook(transaction: Transaction, identifier: string, nowMs: number): void {
  const bytes = transaction.find(outgoingCollection.name, identifier);
  if (bytes === undefined) return;
  const { identifier: _, createdAt: __, updatedAt: ___, ...fields } = decodeRecord(bytes);
  if (fields['enabled'] === false) return;
  const stamps = nextStamps('identifier', identifier, bytes, nowMs);
  const json = encodeRecord('identifier', identifier, stamps, { ...fields, enabled: false });
  transaction.put(outgoingCollection.name, identifier, json);
}
