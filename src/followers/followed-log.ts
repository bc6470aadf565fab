/**
 * The log as a follower reads it: `GET /api/follow/log` sends the lines of a journal, whose format
 * is that of store/journal/journal-line.ts:
 *
 *   a `start` line     first; N is the sequence that the follower has asked to go on from, G is 0
 *   transactions       in their order, without a gap, each as soon as it is committed
 *   a `mark`           when all that is committed has been sent, and every 5 s: N is the last
 *
 * So a follower that has taken everything up to a mark is level with the server of that moment. A
 * line is valid when its checksum is right and its sequence continues the one before; anything else
 * is a connection that broke, and the follower asks anew from what it has on disk.
 *
 * The log is read from the files of the journal, never faster than the follower takes it: nothing
 * waits for a follower, and what is in memory for one is the piece that it is being sent. Where
 * compaction has deleted what comes next, the response ends, and the next request is 410.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { ConcurrencyLimiter } from '../base/turns.ts';
import { JournalLineEncoder } from '../store/journal/journal-line-encoder.ts';
import type { LogReader } from '../store/store-port.ts';

const HEARTBEAT_MS = 5000;

type FollowedLogDeps = {
  readonly log: LogReader;
  readonly clock: Clock;
  /** Limits how many followers read the log at once: each piece is some milliseconds of work. */
  readonly gate: ConcurrencyLimiter;
  /** The last sequence that is applied here. */
  readonly sequence: () => number;
  /** Whether the follower may go on: its token is good, and it has been heard lately. */
  readonly mayGoOn: () => boolean;
};

export class FollowedLog {
  readonly #deps: FollowedLogDeps;
  readonly #encoder = new JournalLineEncoder();
  #hasBegun = false;
  /** Whether the last line is a mark. */
  #isMarked = false;
  #isEnded = false;
  #wake: (() => void) | null = null;

  constructor(deps: FollowedLogDeps) {
    this.#deps = deps;
  }

  /** The next lines to send; null at the end. */
  async pull(): Promise<readonly Buffer[] | null> {
    const { log, sequence, mayGoOn } = this.#deps;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      return [this.#encode(() => this.#encoder.addStart(log.sequence, 0))];
    }
    while (!this.#isEnded && mayGoOn()) {
      if (log.sequence < sequence()) {
        const lines = await this.#readLines();
        if (lines === null) break;
        this.#isMarked = false;
        return [lines];
      }
      if (!this.#isMarked) {
        this.#isMarked = true;
        return [this.#encode(() => this.#encoder.addNote(log.sequence, { mark: true }))];
      }
      await this.#waitForMore();
    }
    this.end();
    return null;
  }

  /** Called when there are more transactions. */
  wake(): void {
    this.#wake?.();
  }

  /** Idempotent. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#deps.log.close();
    this.wake();
  }

  /** The lines of the next transactions; null when compaction has deleted them. */
  async #readLines(): Promise<Buffer | null> {
    const { log, gate, sequence } = this.#deps;
    try {
      return await gate.run(async () => {
        // The event loop serves others between two pieces.
        await nextTurn();
        const transactions = this.#isEnded ? [] : await log.next(sequence());
        return this.#encode(() => {
          for (const { sequence, operations } of transactions) {
            this.#encoder.addTransaction(sequence, sequence - 1, operations);
          }
        });
      });
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'gone') return null;
      throw thrown;
    }
  }

  #encode(addLines: () => void): Buffer {
    this.#encoder.clear();
    addLines();
    // A copy: the encoder uses its buffer again.
    return Buffer.from(this.#encoder.bytes);
  }

  /** Resolves when there is more, or a heartbeat is due. */
  async #waitForMore(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#deps.clock.startTimer(HEARTBEAT_MS, () => {
        this.#isMarked = false;
        resolve();
      });
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wake = null;
  }
}
