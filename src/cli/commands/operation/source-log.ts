/**
 * The log that `data:move` reads from. No node may work on it when its records take effect
 * elsewhere, and none may write to it afterwards. A running node writes at least every five
 * seconds. A frozen node does not, so its lease must have run out; and as it may wake up one day,
 * the log is closed by an entry that no node can go past.
 */
import { sleep, systemClock, formatTimestamp } from '../../../base/clock.ts';
import { AppError, messageOf } from '../../../base/errors.ts';
import { findLeaseHolders, remainingLeaseMs } from '../../../nodes/lease-holders.ts';
import type { LeaseHolder } from '../../../nodes/lease-holders.ts';
import { loadContents } from '../../../store/moving/engine-contents.ts';
import type { EngineConnection } from '../../../store/moving/engine-contents.ts';
import { isSamePosition } from '../../../store/replication/log-entry.ts';
import { encodeClosing } from '../../../store/replication/log-closing.ts';
import type { ReplicatedRecords } from '../../../store/replication/replicated-records.ts';

const LOOK_MS = 1000;

type SourceLogDeps = {
  readonly opened: EngineConnection;
  /** The name of the target, for messages. */
  readonly to: string;
  readonly nowMs: () => number;
  readonly note: (text: string) => void;
};

export class SourceLog {
  readonly #deps: SourceLogDeps;
  readonly #records: ReplicatedRecords;
  readonly #holders: readonly LeaseHolder[];
  /** A time before which the log was as it was read, on the monotonic clock. */
  readonly #readMs: number;
  #isClosed: boolean;

  private constructor(deps: SourceLogDeps, records: ReplicatedRecords, readMs: number) {
    this.#deps = deps;
    this.#records = records;
    this.#readMs = readMs;
    // A log that an interrupted command has closed had no node at work already then.
    this.#isClosed = records.closing !== null;
    this.#holders = this.#isClosed ? [] : findLeaseHolders(records.collections);
  }

  /** Throws `conflict` while the lease of a node has not run out. */
  static async read(deps: SourceLogDeps): Promise<SourceLog> {
    const readMs = systemClock.monotonicMs();
    const log = new SourceLog(deps, await loadContents(deps.opened), readMs);
    log.#checkLeases();
    return log;
  }

  get contents() {
    const { collections, position } = this.#records;
    return { collections, sequence: position.sequence };
  }

  /** Whether no node can write to the log any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The target of an earlier move; null: there was none. */
  get earlierTarget(): string | null {
    return this.#records.closing?.to ?? null;
  }

  /** Closes the log. Throws `conflict` when a node has written since it was read. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#waitForLeases();
    const { opened: { engine, link, session }, to, nowMs } = this.#deps;
    const { logId, position } = this.#records;
    const entry = encodeClosing(position, { to, at: formatTimestamp(nowMs()) });
    let isAppended: boolean;
    try {
      isAppended = await link.ask(session, session.append(logId, position, entry));
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      throw new AppError(thrown.code, `${engine.name} cannot be closed for its nodes: `
        + `${messageOf(thrown)}; nothing was moved: mend that, then run this again`, {}, thrown);
    }
    if (!isAppended) throw this.#createWrittenError();
    this.#isClosed = true;
  }

  #checkLeases(): void {
    const { nowMs } = this.#deps;
    const running = this.#holders.map((holder) =>
      ({ ...holder, remainingMs: remainingLeaseMs(holder, nowMs()) }))
      .filter(({ remainingMs }) => remainingMs > 0);
    if (running.length === 0) return;
    const seconds = Math.ceil(Math.max(...running.map(({ remainingMs }) => remainingMs)) / 1000);
    throw new AppError('conflict',
      `the lease of ${describeHolders(running)} has not run out: stop all `
      + `nodes, then run this again; of one that is gone, or stands still, in ${seconds} s. `
      + 'Nothing was moved');
  }

  /** Waits by our own clock, as those of other machines may be off. */
  async #waitForLeases(): Promise<void> {
    const { opened: { engine, link, session, head }, note } = this.#deps;
    const validMs = Math.max(0, ...this.#holders.map((holder) => holder.validMs));
    const leftMs = (): number => this.#readMs + validMs - systemClock.monotonicMs();
    if (leftMs() > 0) {
      note(`${describeHolders(this.#holders)} did not stop cleanly: waiting up to `
        + `${Math.ceil(leftMs() / 1000)} s, in which one that still runs at ${engine.name} shows`);
    }
    while (leftMs() > 0) {
      await sleep(systemClock, Math.min(LOOK_MS, leftMs()));
      const now = await link.ask(session, session.head());
      const isSame = now !== null && head !== null && now.log === head.log
        && isSamePosition(now, head);
      if (!isSame) throw this.#createWrittenError();
    }
  }

  #createWrittenError(): AppError {
    return new AppError('conflict', `a node writes to ${this.#deps.opened.engine.name}: stop all `
      + 'nodes, then run this again; nothing was moved');
  }
}

function describeHolders(holders: readonly LeaseHolder[]): string {
  return holders.map(({ node, address }) =>
    `node ${node}${address === null ? '' : ` (${address})`}`).join(', ');
}
