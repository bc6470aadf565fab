/** Records when the previous secret of a webhook was last used, at most once a minute. */
import { formatTimestamp } from '../../../base/clock.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { LogFields, Logger } from '../../../base/log.ts';
import { decodeRecord } from '../../../resources/record.ts';
import type { Store } from '../../../store/store-port.ts';
import { incomingCollection } from '../incoming-webhook.ts';

type IdentifiedWebhook = { readonly identifier: string; readonly labels: LogFields };

const MINUTE_MS = 60_000;

export type RecordPreviousSecretUse = (webhook: IdentifiedWebhook, atMs: number) => void;

/** A request is admitted even if the time cannot be written, on a full disk for instance. */
export function createUseRecorder(store: Store, log: Logger): RecordPreviousSecretUse {
  // The minute of the last use that was or is being written, by webhook.
  const writtenMinutes = new Map<string, number>();
  return ({ identifier, labels }, atMs) => {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (writtenMinutes.get(identifier) === minute) return;
    writtenMinutes.set(identifier, minute);
    writeLastUse(store, identifier, formatTimestamp(minute * MINUTE_MS)).catch((error: unknown) => {
      log.warning('the last use of a previous secret was not recorded', { ...labels, error });
    });
  };
}

async function writeLastUse(store: Store, identifier: string, lastUsedAt: string): Promise<void> {
  const { name } = incomingCollection;
  await store.transact((transaction) => {
    const bytes = transaction.find(name, identifier);
    const record = bytes === undefined ? {} : decodeRecord(bytes);
    const { previousSecret } = record;
    if (!isJsonObject(previousSecret)) return;
    // Nothing else in the record changes, not even `updatedAt`.
    const updatedRecord = { ...record, previousSecret: { ...previousSecret, lastUsedAt } };
    transaction.put(name, identifier, JSON.stringify(updatedRecord));
  });
}
