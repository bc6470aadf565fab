/**
 * The columns that a list of stored requests filters by, with one number per column and record, so
 * that a page of a hundred thousand requests is found without touching the records. The columns are
 * built from the stored records in the background, follow every change from then on, and are never
 * written anywhere. The status is that of `RequestStates`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Collection } from '../../store/store-port.ts';
import type { QueueFilter } from '../durable-queue/queue-filter.ts';
import { readEventId, readEvent, readWebhookId, readReceivedMs } from './request-codec.ts';
import type { RequestStates } from './request-states.ts';
import type { RequestStatus } from './stored-request.ts';

export type RequestFilter = QueueFilter<RequestStatus> & { readonly eventId: string | null };

/** Whether the record in a slot matches the filter. */
type Matcher = (slot: number) => boolean;

// These take about two milliseconds.
const RECORDS_PER_TURN = 1000;
const SLOTS_MIN = 1024;

export class RequestColumns {
  readonly #collection: Collection;
  readonly #states: RequestStates;
  /** Whether the record of a slot is in the columns. */
  #entered = new Uint8Array(0);
  #hooks = new Uint32Array(0);
  #events = new Uint32Array(0);
  /** The CRC-32 of the event id, 0 without one. Where it matches, the record itself decides. */
  #eventIds = new Uint32Array(0);
  #receivedMs = new Float64Array(0);
  readonly #hookNumbers = new TextNumbers();
  readonly #eventNumbers = new TextNumbers();
  #building: Promise<void> | null = null;
  #unlisten: (() => void) | null = null;

  constructor(collection: Collection, states: RequestStates) {
    this.#collection = collection;
    this.#states = states;
  }

  /** Resolves once every record is in its columns. */
  whenBuilt(): Promise<void> {
    this.#building ??= this.#build();
    return this.#building;
  }

  close(): void {
    this.#unlisten?.();
  }

  /** Makes the matcher of a filter; null when no record can match. */
  createMatcher({ hook, status, event, eventId, sinceMs, untilMs }: RequestFilter): Matcher | null {
    const hookNumber = hook === null ? null : this.#hookNumbers.find(hook);
    const eventNumber = event === null ? null : this.#eventNumbers.find(event);
    if (hookNumber === undefined || eventNumber === undefined) return null;
    const eventIdCrc = eventId === null ? null : crc32(eventId);
    return (slot) => {
      const slotStatus = this.#states.statusAt(slot);
      if (slotStatus === null || (status !== null && slotStatus !== status)) return false;
      if (hookNumber !== null && this.#hooks[slot] !== hookNumber) return false;
      if (eventNumber !== null && this.#events[slot] !== eventNumber) return false;
      if (eventIdCrc !== null && this.#eventIds[slot] !== eventIdCrc) return false;
      const atMs = this.#receivedMs[slot] ?? 0;
      if (sinceMs !== null && atMs < sinceMs) return false;
      if (untilMs !== null && atMs >= untilMs) return false;
      return eventId === null || this.#readEventId(slot) === eventId;
    };
  }

  #readEventId(slot: number): string | null {
    const bytes = this.#collection.bytesAt(slot);
    return bytes === undefined ? null : readEventId(bytes);
  }

  async #build(): Promise<void> {
    const collection = this.#collection;
    this.#unlisten = collection.onChange(({ after }, slot) => this.#setRecord(slot, after));
    for (let slot = 0; slot < collection.slotBound; slot += 1) {
      this.#setRecord(slot, collection.bytesAt(slot) ?? null);
      if (slot % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) {
        await nextTurn();
      }
    }
  }

  #setRecord(slot: number, bytes: Buffer | null): void {
    if (slot >= this.#entered.length) this.#grow(slot + 1);
    // A change of a record that is entered never changes its webhook, event, event id or time.
    const isEntered = this.#entered[slot] === 1;
    if (bytes === null) {
      if (isEntered) this.#clear(slot);
      return;
    }
    if (isEntered) return;
    this.#entered[slot] = 1;
    this.#hooks[slot] = this.#hookNumbers.intern(readWebhookId(bytes));
    const event = readEvent(bytes);
    this.#events[slot] = event === null ? 0 : this.#eventNumbers.intern(event);
    const eventId = readEventId(bytes);
    this.#eventIds[slot] = eventId === null ? 0 : crc32(eventId);
    this.#receivedMs[slot] = readReceivedMs(bytes);
  }

  #clear(slot: number): void {
    this.#entered[slot] = 0;
    this.#hookNumbers.release(this.#hooks[slot] ?? 0);
    this.#eventNumbers.release(this.#events[slot] ?? 0);
  }

  #grow(count: number): void {
    const length = Math.max(SLOTS_MIN, count, this.#entered.length * 2);
    const copyInto = <T extends { set(from: T): void }>(column: T, larger: T): T => {
      larger.set(column);
      return larger;
    };
    this.#entered = copyInto(this.#entered, new Uint8Array(length));
    this.#hooks = copyInto(this.#hooks, new Uint32Array(length));
    this.#events = copyInto(this.#events, new Uint32Array(length));
    this.#eventIds = copyInto(this.#eventIds, new Uint32Array(length));
    this.#receivedMs = copyInto(this.#receivedMs, new Float64Array(length));
  }
}

/** Numbers texts that many records share, from 1 on. A text that no record has is forgotten. */
class TextNumbers {
  readonly #byText = new Map<string, number>();
  readonly #texts: string[] = [''];
  readonly #counts: number[] = [0];
  readonly #free: number[] = [];

  find(text: string): number | undefined {
    return this.#byText.get(text);
  }

  intern(text: string): number {
    const number = this.#byText.get(text) ?? this.#free.pop() ?? this.#texts.length;
    this.#byText.set(text, number);
    this.#texts[number] = text;
    this.#counts[number] = (this.#counts[number] ?? 0) + 1;
    return number;
  }

  release(number: number): void {
    if (number === 0) return;
    const count = (this.#counts[number] ?? 0) - 1;
    this.#counts[number] = count;
    if (count > 0) return;
    this.#byText.delete(this.#texts[number] ?? '');
    this.#texts[number] = '';
    this.#free.push(number);
  }
}
