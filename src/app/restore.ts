/**
 * Restores a backup, but keeps the tokens that the data directory has. Tokens are credentials of
 * today, not data of the day of the backup: a restore must not open an API that is closed, nor make
 * a revoked token valid again. Tokens that only the backup has come with it.
 */
import { TOKENS, Tokens } from '../access/tokens.ts';
import { assert } from '../base/assert.ts';
import { systemClock } from '../base/clock.ts';
import { AppError, systemCodeOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { createIdSource } from '../base/uuid.ts';
import { restoreBackup } from '../store/backup/restore.ts';
import type { RestoreOptions, RestoreReport } from '../store/backup/restore.ts';
import { walkRecords } from '../store/find-record.ts';
import { checkJournalEnd, recoverState } from '../store/generations/recovery.ts';
import type { RecoveredState } from '../store/generations/recovery.ts';
import type { JournalEnd } from '../store/lock/directory-lock.ts';
import { openStore } from '../store/store.ts';
import type { OpenedStore } from '../store/store.ts';
import { delayedEventCollection } from '../webhooks/deliveries/delayed-events.ts';
import { deliveryCollection } from '../webhooks/deliveries/delivery.ts';
import { deliveryHead } from '../webhooks/deliveries/delivery-codec.ts';
import { isRouteDeliveryId, parseRequestId } from '../webhooks/deliveries/route-delivery-id.ts';

type RestoreDataOptions = RestoreOptions & {
  readonly logger: Logger;
  /** The end of the directory's journal that `lock` tells; null: not known. */
  readonly journalEnd: JournalEnd | null;
};

/** How many of each a start sends and runs, unless it is paused. */
type WaitingCounts = {
  readonly deliveries: number;
  readonly delayedEvents: number;
  /** Requests that are kept, and have a route that has not ended. */
  readonly requests: number;
};

type DataRestoreReport = RestoreReport & { readonly waiting: WaitingCounts };

type TokenRecords = ReadonlyMap<string, string>;

/** Throws what `restoreBackup` throws. The report's notes say when tokens could not be kept. */
export async function restoreData(options: RestoreDataOptions): Promise<DataRestoreReport> {
  const hadData = options.isReplacing || options.journalEnd !== null;
  const tokenRecords = hadData ? await readTokens(options) : new Map<string, string>();
  let hasToken = false;
  const { collections, ...restoreReport } = await restoreBackup({
    ...options,
    async complete(directory) {
      if (tokenRecords === null) hasToken = await closeApi(options, directory);
      else await putTokens(options, directory, tokenRecords);
    },
  });
  const report = { ...restoreReport, waiting: countWaiting(collections) };
  if (tokenRecords !== null) return report;
  const state = hasToken ? 'those of the backup are good, also those revoked since'
    : 'the API stays closed until there is one (token:create, or the setting server.apiToken)';
  const note = `the tokens of the data that was there could not be read: ${state}`;
  return { ...report, notes: [...report.notes, note] };
}

export function countWaiting(collections: RecoveredState['collections']): WaitingCounts {
  let deliveries = 0;
  const requestIds = new Set<string>();
  const collection = collections.get(deliveryCollection.name);
  assert(collection !== undefined, 'the specs of a data directory have its deliveries');
  for (const { id, bytes } of walkRecords(collection)) {
    if (deliveryHead.readStatus(bytes) !== 'pending') continue;
    if (isRouteDeliveryId(id)) requestIds.add(parseRequestId(id));
    else deliveries += 1;
  }
  const delayedEvents = collections.get(delayedEventCollection.name)?.size ?? 0;
  return { deliveries, delayedEvents, requests: requestIds.size };
}

/**
 * The tokens of the directory, by identifier; null when its data is gone or cannot be read. The
 * files stay as they are.
 */
async function readTokens(options: RestoreDataOptions): Promise<TokenRecords | null> {
  const { directory, files, specs, journalEnd } = options;
  try {
    // The data may be of a newer version, and the backup one from before the upgrade.
    const state = await recoverState({
      directory, files, specs, skipsUnknownCollections: true,
    });
    checkJournalEnd(state, journalEnd);
    const collection = state.collections.get(TOKENS.name);
    assert(collection !== undefined, 'the specs of a data directory have its tokens');
    return new Map([...walkRecords(collection)].map(({ id, bytes }) => [id, bytes.toString()]));
  } catch (thrown) {
    if (thrown instanceof AppError || systemCodeOf(thrown) !== undefined) return null;
    throw thrown;
  }
}

async function putTokens(
  options: RestoreDataOptions, directory: string, tokenRecords: TokenRecords,
): Promise<void> {
  if (tokenRecords.size === 0) return;
  await withStore(options, directory, (store) => store.transact((transaction) => {
    for (const [id, json] of tokenRecords) transaction.put(TOKENS.name, id, json);
  }));
}

/** Resolves with whether a token opens the API. */
function closeApi(options: RestoreDataOptions, directory: string): Promise<boolean> {
  return withStore(options, directory, async (store) => {
    const makeId = createIdSource(systemClock);
    const tokens = new Tokens({ store, clock: systemClock, makeId, log: options.logger });
    await tokens.recordConfiguredToken();
    return tokens.hasReadingToken;
  });
}

async function withStore<T>(
  { files, logger, specs }: RestoreDataOptions, directory: string,
  use: (store: OpenedStore) => Promise<T>,
): Promise<T> {
  const store = await openStore({ directory, files, logger, specs });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
