/** When the previous secret of a webhook was last used: written once a minute at most. */
import { formatTimestamp } from '../../../base/clock.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { LogFields, Logger } from '../../../base/log.ts';
import { decodeRecord } from '../../../resources/record.ts';
import type { Store } from '../../../store/store-port.ts';
import { incomingCollection } from '../incoming-webhook.ts';

/** A webhook whose previous secret was used. */
type IdentifiedWebhook = { readonly identifier: string; readonly labels: LogFields };

const MINUTE_MS = 60_000;

export class PreviousSecretUses {
  readonly #store: Store;
  readonly #log: Logger;
  /** By webhook: those that are being written, and the last that were. */
  readonly #writtenMinutes = new Map<string, number>();

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** The use is allowed whether or not its time can be written (a full disk, say). */
  record({ identifier, labels }: IdentifiedWebhook, atMs: number): void {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (this.#writtenMinutes.get(identifier) === minute) return;
    this.#writtenMinutes.set(identifier, minute);
    this.#write(identifier, formatTimestamp(minute * MINUTE_MS)).catch((error: unknown) => {
      this.#log.warning('the last use of a previous secret was not recorded', {
        ...labels, error,
      });
    });
  }

  async #write(identifier: string, lastUsedAt: string): Promise<void> {
    const { name } = incomingCollection;
    await this.#store.transact((transaction) => {
      const bytes = transaction.find(name, identifier);
      const record = bytes === undefined ? {} : decodeRecord(bytes);
      const { previousSecret } = record;
      if (!isJsonObject(previousSecret)) return;
      // The record is as it was otherwise, its times included.
      const updated = { ...record, previousSecret: { ...previousSecret, lastUsedAt } };
      transaction.put(name, identifier, JSON.stringify(updated));
    });
  }
}
