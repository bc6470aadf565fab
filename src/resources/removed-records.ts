/**
 * The records that were removed in the last minute, so that a removal can be taken back. They are
 * put back byte for byte: with the identifier, the times and the secrets, which no caller could
 * write.
 *
 * - What the removal deleted comes back: the record itself, and what was deleted beside it, such as
 *   the health and statistics of a webhook, or the body and the routes of a request.
 * - What it changed stays changed: deliveries and runs that were pending for a webhook have ended.
 *   A book that has taken in the removed book is as before, unless somebody has changed it since.
 * - Nothing comes back once another record has its key or one of its unique values.
 *
 * Removed records are in the memory of this process alone, and no response has them. A restart
 * forgets them, and of several nodes only the one that removed a record can put it back. No timer
 * ends the minute: records that are too old are let go with the next removal.
 */
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { quote } from '../base/text/error-message.ts';
import { decodeRecord } from './record.ts';
import type { FoundRecord } from '../store/store-port.ts';

type RemovedRecord = FoundRecord & {
  /** The version that took the place of a record that the removal has changed. */
  readonly replacedBy?: Buffer;
};

type RemovedRecordSet = {
  readonly records: readonly RemovedRecord[]; readonly bytes: number; readonly untilMs: number;
};

const RESTORABLE_MS = 60_000;
/** The limits for each kind of records. The last removal is held whatever its size. */
const REMOVALS_MAX = 1000;
const BYTES_MAX = 2 << 20;

/** The removals of one kind of records, by the id of the record that was asked for. */
export class RemovedRecords {
  readonly #noun: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #nameMembers: readonly string[];
  /** The oldest removal comes first. */
  readonly #removals = new Map<string, RemovedRecordSet>();
  #bytes = 0;

  /** `nameMembers` are the members by which people name a record, beside its id. */
  constructor(
    noun: string, clock: Pick<Clock, 'now'>, nameMembers: readonly string[] = [],
  ) {
    this.#noun = noun;
    this.#nameMembers = nameMembers;
    this.#clock = clock;
  }

  /** Holds a record and what was removed with it, once that is on disk. */
  add(id: string, records: readonly RemovedRecord[]): void {
    this.forget(id);
    // The bytes are copied, so that no more memory stays than they take.
    const copies = records.map(({ replacedBy, ...record }) => ({
      ...record, bytes: Buffer.from(record.bytes),
      ...replacedBy === undefined ? {} : { replacedBy: Buffer.from(replacedBy) },
    }));
    const bytes = copies.reduce((sum, record: RemovedRecord) =>
      sum + record.bytes.length + (record.replacedBy?.length ?? 0), 0);
    this.#removals.set(id, {
      records: copies, bytes, untilMs: this.#clock.now() + RESTORABLE_MS,
    });
    this.#bytes += bytes;
    this.#forgetOld();
  }

  /**
   * What was removed with a record, which comes first. Of several that had the name the last one is
   * meant. Throws `not_found` for a record that was not removed here in the last minute.
   */
  get(idOrName: string): readonly RemovedRecord[] {
    this.#forgetOld();
    const removal = this.#removals.get(idOrName) ?? this.#findByName(idOrName);
    if (removal !== undefined) return removal.records;
    throw new AppError('not_found', `no ${this.#noun} ${quote(idOrName)} was deleted here in the `
      + `last ${RESTORABLE_MS / 1000} s: only such a one can be put back`);
  }

  #findByName(name: string): RemovedRecordSet | undefined {
    if (this.#nameMembers.length === 0) return undefined;
    return [...this.#removals.values()].findLast(({ records: [removed] }) => {
      if (removed === undefined) return false;
      const record = decodeRecord(removed.bytes);
      return this.#nameMembers.some((member) => record[member] === name);
    });
  }

  forget(id: string): void {
    this.#bytes -= this.#removals.get(id)?.bytes ?? 0;
    this.#removals.delete(id);
  }

  #forgetOld(): void {
    const nowMs = this.#clock.now();
    for (const [id, { untilMs }] of this.#removals) {
      const isAboveLimits = this.#removals.size > 1
        && (this.#removals.size > REMOVALS_MAX || this.#bytes > BYTES_MAX);
      if (untilMs > nowMs && !isAboveLimits) return;
      this.forget(id);
    }
  }
}
