/**
 * The health of all webhooks of one kind: counts their tries in memory, at once and for nothing but
 * a few numbers, and keeps what record.ts tells on disk. Whoever writes the result of a try stages
 * the health with it (`stage`); what is not written so is written here.
 */
import { formatTimestamp, type Clock, type Timer } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { decodeRecord } from '../../resources/record.ts';
import { followRecords } from '../../resources/projection.ts';
import type { Change, Store, Transaction } from '../../store/store-port.ts';
import {
  NO_REQUESTS, UNTRIED, afterEnabling, afterFailure, afterFinalFailure, afterPassed, afterRefused,
  afterSuccess, merged, sinceOf, stateOf, type Failure, type Health, type HealthState,
  type RequestWindow,
} from './health.ts';
import { decodeHealth, encodeHealth, healthCollection, type Direction } from './record.ts';

type MonitoredWebhook = {
  readonly identifier: string;
  readonly enabled: boolean;
  /** Of its lines in the log. */
  readonly labels: { readonly webhook: string };
};

/** The state that is shown of a webhook. */
export type ShownState = HealthState | 'off';

type UnhealthyWebhook = {
  readonly label: string; readonly state: HealthState; readonly sinceMs: number;
};

export type HealthMonitors = Readonly<Record<Direction, HealthMonitor>>;

type MonitorDeps = {
  readonly direction: Direction;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** The collection of the webhooks. */
  readonly collection: string;
  readonly hooks: {
    find(identifier: string): MonitoredWebhook | undefined;
    all(): Iterable<MonitoredWebhook>;
  };
};

/** A few hundred bytes for a webhook that was tried or called. */
type Entry = {
  health: Health;
  requests: RequestWindow;
  /** As it is committed; null: there is no record. */
  written: Health | null;
};

const WRITE_DELAY_MS = 10_000;
/** Records that one transaction writes. */
const CHUNK = 250;

export class HealthMonitor {
  readonly #deps: MonitorDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #unfollow: readonly (() => void)[];
  /** Identifiers of webhooks of which there is something new to write. */
  readonly #changed = new Set<string>();
  #timer: Timer | null = null;
  #isWriteAsked = false;
  #isClosed = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
    const { store, collection } = deps;
    this.#unfollow = [
      followRecords(store.collection(healthCollection.name), (change) => this.#applyRecord(change)),
      store.collection(collection).onChange((change) => this.#applyWebhook(change)),
    ];
  }

  succeeded(hook: string, atMs: number): void {
    const entry = this.#entryOf(hook);
    this.#update(hook, entry, afterSuccess(entry.health, atMs));
  }

  /** `isToldElsewhere`: the log has a line about what it led to. */
  failed(hook: string, failure: Failure, isToldElsewhere = false): void {
    const entry = this.#entryOf(hook);
    this.#update(hook, entry, afterFailure(entry.health, failure), isToldElsewhere);
  }

  /** What was tried, last at that time, has failed for good. May be told several times. */
  failedForGood(hook: string, atMs: number, isToldElsewhere = false): void {
    const entry = this.#entryOf(hook);
    this.#update(hook, entry, afterFinalFailure(entry.health, atMs), isToldElsewhere);
  }

  /** A request has passed the checks of its sender. */
  passed(hook: string, atMs: number): void {
    const entry = this.#entryOf(hook);
    const { health, requests } = afterPassed(entry.health, entry.requests, atMs);
    entry.requests = requests;
    if (health === entry.health) return;
    this.#update(hook, entry, health);
    this.writeSoon();
  }

  /** A request was refused by one of them. */
  refused(hook: string, refusal: Failure): void {
    const entry = this.#entryOf(hook);
    const wasRejecting = entry.health.rejectingSinceMs !== null;
    const { health, requests } = afterRefused(entry.health, entry.requests, refusal);
    entry.requests = requests;
    if (health.rejectingSinceMs === null) {
      // Anybody can send such requests: while it is healthy they are not written.
      entry.health = health;
      return;
    }
    this.#update(hook, entry, health);
    if (!wasRejecting) this.writeSoon();
  }

  /** Whether the state of a webhook is what is committed. */
  isWritten(hook: string): boolean {
    const entry = this.#entries.get(hook);
    return entry === undefined || isSameState(entry.health, entry.written);
  }

  /** Stages the state of a webhook, if it is not written, with the result of a counted try. */
  stage(transaction: Transaction, hook: string): void {
    const entry = this.#entries.get(hook);
    if (entry !== undefined && !this.isWritten(hook)) this.#put(transaction, hook, entry);
  }

  /** Writes a state that has changed, in this turn of the loop. */
  writeSoon(): void {
    if (this.#isWriteAsked || this.#isClosed) return;
    this.#isWriteAsked = true;
    setImmediate(() => {
      this.#isWriteAsked = false;
      this.#write([...this.#changed].filter((hook) => !this.isWritten(hook)));
    });
  }

  find(hook: string): Health {
    return this.#entries.get(hook)?.health ?? UNTRIED;
  }

  stateOf({ identifier, enabled }: Omit<MonitoredWebhook, 'labels'>): ShownState {
    if (!enabled) return 'off';
    const entry = this.#entries.get(identifier);
    return entry === undefined ? 'healthy' : stateOf(entry.health);
  }

  /** undefined: there is no such webhook. */
  findState(identifier: string): ShownState | undefined {
    const hook = this.#deps.hooks.find(identifier);
    return hook === undefined ? undefined : this.stateOf(hook);
  }

  /** How many webhooks are in each state. */
  counts(): Readonly<Record<ShownState, number>> {
    const counts = { healthy: 0, failing: 0, rejecting: 0, off: 0 };
    for (const hook of this.#deps.hooks.all()) counts[this.stateOf(hook)] += 1;
    return counts;
  }

  /** Webhooks that fail or reject, in no order. */
  unhealthy(): readonly UnhealthyWebhook[] {
    return [...this.#entries].flatMap(([identifier, { health }]) => {
      const [state, sinceMs] = [stateOf(health), sinceOf(health)];
      const hook = state === 'healthy' ? undefined : this.#deps.hooks.find(identifier);
      return hook?.enabled === true && sinceMs !== null
        ? [{ label: hook.labels.webhook, state, sinceMs }] : [];
    });
  }

  /** Writes what is not written yet; tries that come later are not. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#write([...this.#changed]);
    await this.#writing;
    for (const unfollow of this.#unfollow) unfollow();
  }

  #entryOf(hook: string): Entry {
    const found = this.#entries.get(hook);
    if (found !== undefined) return found;
    const made = { health: UNTRIED, requests: NO_REQUESTS, written: null };
    // What ends after the removal of its webhook leaves nothing.
    if (this.#deps.hooks.find(hook) !== undefined) this.#entries.set(hook, made);
    return made;
  }

  #update(hook: string, entry: Entry, health: Health, isToldElsewhere = false): void {
    const before = entry.health;
    entry.health = health;
    this.#changed.add(hook);
    if (this.#timer === null && !this.#isClosed) {
      this.#timer = this.#deps.clock.startTimer(WRITE_DELAY_MS, () => {
        this.#timer = null;
        this.#write([...this.#changed]);
      });
    }
    if (stateOf(before) !== stateOf(health) && !isToldElsewhere) this.#tell(hook, before, health);
  }

  /** One line when a webhook begins to fail or to reject, and one when that ends. */
  #tell(identifier: string, before: Health, after: Health): void {
    const { hooks, log, direction } = this.#deps;
    const hook = hooks.find(identifier);
    if (hook?.enabled !== true) return;
    const fields = { direction, ...hook.labels };
    const begun = (health: Health): string | null => timeOrNull(sinceOf(health));
    if (after.isFailing && !before.isFailing) {
      log.warning('a webhook fails', {
        ...fields, since: begun(after), reason: after.lastFailure?.reason ?? null,
      });
    } else if (before.isFailing && !after.isFailing) {
      log.info('a webhook works again', { ...fields, failingSince: begun(before) });
    }
    if (stateOf(after) === 'rejecting') {
      log.warning('a webhook rejects most of its requests', {
        ...fields, since: begun(after), reason: after.lastRefusal?.reason ?? null,
      });
    } else if (stateOf(before) === 'rejecting' && !after.isFailing) {
      log.info('a webhook accepts its requests again',
        { ...fields, rejectingSince: begun(before) });
    }
  }

  #write(hooks: readonly string[]): void {
    for (const hook of hooks) this.#changed.delete(hook);
    for (let start = 0; start < hooks.length; start += CHUNK) {
      const chunk = hooks.slice(start, start + CHUNK);
      this.#writing = this.#writing.then(() => this.#writeChunk(chunk));
    }
  }

  async #writeChunk(hooks: readonly string[]): Promise<void> {
    try {
      await this.#deps.store.transact((transaction) => {
        for (const hook of hooks) {
          const entry = this.#entries.get(hook);
          if (entry !== undefined) this.#put(transaction, hook, entry);
        }
      });
    } catch (error) {
      // Why the store takes no writes it has logged itself.
      if (!(error instanceof AppError)) {
        this.#deps.log.error('the health of webhooks could not be written', { error });
      }
      for (const hook of hooks) {
        const entry = this.#entries.get(hook);
        if (entry !== undefined && !this.#isClosed) this.#update(hook, entry, entry.health);
      }
    }
  }

  #put(transaction: Transaction, hook: string, { health }: Entry): void {
    const { store, collection, direction } = this.#deps;
    // Its removal may be on disk or staged by now.
    if (transaction.find(collection, hook) === undefined) return;
    const stored = transaction.find(healthCollection.name, hook);
    const isShared = store.replica !== null && stored !== undefined;
    const latest = isShared ? merged(health, decodeHealth(stored).health) : health;
    const json = encodeHealth(hook, direction, latest);
    if (stored?.toString() !== json) transaction.put(healthCollection.name, hook, json);
  }

  #applyRecord({ id, after }: Change): void {
    if (after === null) return;
    const { direction, health } = decodeHealth(after);
    if (direction !== this.#deps.direction) return;
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      this.#entries.set(id, { health, requests: NO_REQUESTS, written: health });
      return;
    }
    entry.written = health;
    if (this.#deps.store.replica === null) return;
    // Another node may have written it, which has seen what this one has not.
    entry.health = this.#changed.has(id)
      ? merged(entry.health, health) : merged(health, entry.health);
  }

  #applyWebhook({ id, before, after }: Change): void {
    if (after === null) {
      this.#entries.delete(id);
      this.#changed.delete(id);
      return;
    }
    if (before === null || !isSwitchedOn(before, after)) return;
    const entry = this.#entryOf(id);
    const { updatedAt } = decodeRecord(after);
    this.#update(id, entry, afterEnabling(entry.health, Date.parse(String(updatedAt))));
    this.writeSoon();
  }
}

/** To be staged with the removal of a webhook. */
export function forgetHealth(transaction: Transaction, hook: string): void {
  transaction.delete(healthCollection.name, hook);
}

function isSwitchedOn(before: Buffer, after: Buffer): boolean {
  return decodeRecord(before)['enabled'] === false && decodeRecord(after)['enabled'] === true;
}

function isSameState(left: Health, right: Health | null): boolean {
  if (right === null) return stateOf(left) === 'healthy' && left.healthySinceMs === null;
  return left.isFailing === right.isFailing
    && (!left.isFailing || left.firstFailedMs === right.firstFailedMs)
    && left.rejectingSinceMs === right.rejectingSinceMs
    && left.healthySinceMs === right.healthySinceMs;
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : formatTimestamp(ms);
}
