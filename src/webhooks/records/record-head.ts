/**
 * The record of an item of a durable queue is one JSON object on one line. It begins
 *
 *     {"<key>":"<id>","status":"<status>","updatedAt":"<time>",…
 *
 * Status and time are asked for with every change, so they are read without parsing, where they
 * stand. The first two letters of a status identify it. All other members are plain JSON.
 */
import { parseTimestamp } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { TIME_LENGTH } from '../../resources/record.ts';
import type { CollectionSpec } from '../../store/store-port.ts';

const QUOTE = 0x22;
const STATUS_MARK_LENGTH = '","status":"'.length;
const UPDATED_MARK_LENGTH = '","updatedAt":"'.length;

export class RecordHead<Status extends string> {
  readonly #prefix: string;
  readonly #statusByLetters: ReadonlyMap<number, Status>;

  constructor({ key }: CollectionSpec, statuses: readonly Status[]) {
    this.#prefix = `{"${key}":"`;
    this.#statusByLetters = new Map(
      statuses.map((status) => [readLetters(Buffer.from(status), 0), status]));
  }

  encode(id: string, status: Status, updatedAt: string): string {
    return `${this.#prefix}${id}","status":"${status}","updatedAt":"${updatedAt}"`;
  }

  readStatus(record: Buffer): Status {
    const status = this.#statusByLetters.get(readLetters(record, this.#findStatus(record)));
    if (status === undefined) throw new AppError('damaged', 'a stored record has no status');
    return status;
  }

  readUpdatedMs(record: Buffer): number {
    const end = this.findEnd(record) - 1;
    return parseTimestamp(record.toString('latin1', end - TIME_LENGTH, end));
  }

  /** Finds the comma or brace behind the head. */
  findEnd(record: Buffer): number {
    return this.#findStatus(record) + this.readStatus(record).length + UPDATED_MARK_LENGTH
      + TIME_LENGTH + 1;
  }

  // A loop: an id is short, and a call of `indexOf` takes as long as reading the status.
  #findStatus(record: Buffer): number {
    let at = this.#prefix.length;
    while (at < record.length && record[at] !== QUOTE) at += 1;
    return at + STATUS_MARK_LENGTH;
  }
}

function readLetters(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}
