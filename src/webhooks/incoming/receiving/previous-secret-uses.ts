/** Records when the previous secret of a webhook was last used, at most once a minute. */
import { formatTimestamp } from '../../../base/clock.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { LogFields, Logger } from '../../../base/log.ts';
import { decodeRecord } from '../../../resources/record.ts';
import type { Store } from '../../../store/store-port.ts';
import { incomingCollection } from '../incoming-webhook.ts';

type IdentifiedWebhook = { readonly identifier: string; readonly labels: LogFields };

const MINUTE_MS = 60_000;

export class PreviousSecretUses {
  readonly #store: Store;
  readonly #log: Logger;
  /** The minute of the last use that was or is being written, by webhook. */
  readonly #writtenMinutes = new Map<string, number>();

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** The request is admitted even if the time cannot be written, on a full disk for instance. */
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
      // Nothing else in the record changes, not even `updatedAt`.
      const updatedRecord = { ...record, previousSecret: { ...previousSecret, lastUsedAt } };
      transaction.put(name, identifier, JSON.stringify(updatedRecord));
    });
  }
}
