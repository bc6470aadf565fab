/**
 * Keeps the old form of records (webhooks/durable-queue/record-form.ts) while nodes of a release
 * before 1.1 may be beside this one, and begins the new form once they are gone.
 *
 * Only the log of an older release can have such nodes: the format of its log is 1, and they refuse
 * the logs that this release makes. A process that opens it commits the mark of the old form before
 * it writes anything else. The owner of the maintenance shard begins the new form when it has
 * listened for a minute in which it heard no node that reads the old form alone. The minute lets a
 * node that is being upgraded go back to its release. No record depends on it: an older node that
 * is still there, or comes later, refuses the entry that begins the new form, and stops.
 */
import type { Clock, Timer } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { NODES, decodeNode } from '../nodes/node-records.ts';
import { followRecords } from '../resources/projection.ts';
import { findCommitted } from '../store/find-record.ts';
import type { Change, Store } from '../store/store-port.ts';
import {
  RECORD_FORM, beginNewForm, keepOldForm, mustWriteOldForm,
} from '../webhooks/durable-queue/record-form.ts';

type FormUpkeepDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly isMaintainer: () => boolean;
};

const FORMER_LOG_FORMAT = 1;
const QUIET_MS = 60_000;
const CHECK_MS = 5000;

/**
 * Marks the form in which this process has to write, before it writes anything else. Where it has
 * the store for itself, as after a data:move out of an engine, that is the new one.
 */
export async function settleRecordForm(store: Store): Promise<void> {
  const { replica } = store;
  if (replica === null) return beginNewForm(store, () => true);
  if (replica.logFormat === FORMER_LOG_FORMAT) await keepOldForm(store);
}

export class FormUpkeep {
  readonly #deps: FormUpkeepDeps;
  readonly #unfollow: () => void;
  /** When an older node was last heard, or when we began to listen, on the monotonic clock. */
  #quietSinceMs: number;
  #timer: Timer | null = null;
  #check: Promise<void> | null = null;
  #isClosed = false;

  constructor(deps: FormUpkeepDeps) {
    this.#deps = deps;
    this.#quietSinceMs = deps.clock.monotonicMs();
    this.#unfollow = followRecords(deps.store.collection(NODES.name), (change) =>
      this.#applyNode(change));
  }

  start(): void {
    this.#scheduleCheck();
  }

  /** Begins anew after a reload: a log that was cut back may have lost the mark, or have others. */
  restart(): void {
    const { store, clock, log } = this.#deps;
    this.#quietSinceMs = clock.monotonicMs();
    settleRecordForm(store).catch((error: unknown) => log.error('the form of records that older '
      + 'nodes can read could not be marked in the log: these may stop', { error }));
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#unfollow();
    await this.#check;
  }

  #applyNode({ before, after }: Change): void {
    const bytes = after ?? before;
    const { forms = 1 } = bytes === null ? { forms: RECORD_FORM } : decodeNode(bytes);
    if (forms < RECORD_FORM) this.#quietSinceMs = this.#deps.clock.monotonicMs();
  }

  #scheduleCheck(): void {
    if (this.#isClosed) return;
    this.#timer = this.#deps.clock.startTimer(CHECK_MS, () => {
      this.#check = this.#beginWhenQuiet().finally(() => {
        this.#check = null;
        this.#scheduleCheck();
      });
    });
  }

  async #beginWhenQuiet(): Promise<void> {
    const { store, log } = this.#deps;
    const find = findCommitted(store);
    if (!mustWriteOldForm(find) || !this.#isReady()) return;
    try {
      // Asked again within the transaction: it runs after all that other nodes have committed.
      await beginNewForm(store, () => this.#isReady());
      if (!mustWriteOldForm(find)) log.info('all nodes can read the records of this release');
    } catch (error) {
      log.warning('the records of this release could not be begun; trying again', { error });
    }
  }

  #isReady(): boolean {
    const { clock, isMaintainer } = this.#deps;
    return isMaintainer() && clock.monotonicMs() >= this.#quietSinceMs + QUIET_MS;
  }
}
