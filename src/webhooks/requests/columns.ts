/**
 * What a list of kept requests filters by, one number a column and record: a page over a hundred
 * thousand of them is found without touching the records. Built when a list is first asked for,
 * from what is stored, and follows every change from then on. Never written anywhere.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Collection } from '../../store/store-port.ts';
import { eventIdOf, eventOf, hookOf, receivedMsOf, statusOf } from './codec.ts';
import { REQUEST_STATUSES, type RequestStatus } from './request.ts';

export type RequestFilter = {
  readonly hook: string | null;
  readonly status: RequestStatus | null;
  readonly event: string | null;
  readonly eventId: string | null;
  /** Milliseconds since the epoch: received at or after `sinceMs`, and before `untilMs`. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
};

/** Whether the record in a slot is wanted. */
type Matcher = (slot: number) => boolean;

// That many take some two milliseconds.
const RECORDS_A_TURN = 1000;
const SLOTS_MIN = 1024;
/** In the column of statuses: there is no record in the slot. */
const EMPTY = 0;

export class RequestColumns {
  readonly #collection: Collection;
  #statuses = new Uint8Array(0);
  #hooks = new Uint32Array(0);
  #events = new Uint32Array(0);
  /** CRC-32 of the id, 0 without one: hardly two records share an id, so the record decides. */
  #eventIds = new Uint32Array(0);
  #receivedMs = new Float64Array(0);
  readonly #hookNumbers = new Numbers();
  readonly #eventNumbers = new Numbers();
  #building: Promise<void> | null = null;
  #unlisten: (() => void) | null = null;

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /** Resolves once every record is in its columns. */
  ready(): Promise<void> {
    this.#building ??= this.#build();
    return this.#building;
  }

  close(): void {
    this.#unlisten?.();
  }

  /** null: no record can match. */
  matcher({ hook, status, event, eventId, sinceMs, untilMs }: RequestFilter): Matcher | null {
    const wantedHook = hook === null ? null : this.#hookNumbers.find(hook);
    const wantedEvent = event === null ? null : this.#eventNumbers.find(event);
    if (wantedHook === undefined || wantedEvent === undefined) return null;
    const wantedStatus = status === null ? null : REQUEST_STATUSES.indexOf(status) + 1;
    const wantedEventId = eventId === null ? null : crc32(eventId);
    return (slot) => {
      const found = this.#statuses[slot] ?? EMPTY;
      if (found === EMPTY || (wantedStatus !== null && found !== wantedStatus)) return false;
      if (wantedHook !== null && this.#hooks[slot] !== wantedHook) return false;
      if (wantedEvent !== null && this.#events[slot] !== wantedEvent) return false;
      if (wantedEventId !== null && this.#eventIds[slot] !== wantedEventId) return false;
      const atMs = this.#receivedMs[slot] ?? 0;
      if (sinceMs !== null && atMs < sinceMs) return false;
      if (untilMs !== null && atMs >= untilMs) return false;
      return eventId === null || this.#eventIdIn(slot) === eventId;
    };
  }

  #eventIdIn(slot: number): string | null {
    const bytes = this.#collection.bytesAt(slot);
    return bytes === undefined ? null : eventIdOf(bytes);
  }

  async #build(): Promise<void> {
    const collection = this.#collection;
    this.#unlisten = collection.onChange(({ after }, slot) => this.#set(slot, after));
    for (let slot = 0; slot < collection.slotBound; slot += 1) {
      this.#set(slot, collection.bytesAt(slot) ?? null);
      if (slot % RECORDS_A_TURN === RECORDS_A_TURN - 1) {
        await nextTurn();
      }
    }
  }

  #set(slot: number, bytes: Buffer | null): void {
    if (slot >= this.#statuses.length) this.#grow(slot + 1);
    // A change of a record that was entered before keeps its hook, its event, its id and time.
    const isKnown = this.#statuses[slot] !== EMPTY;
    if (bytes === null) {
      if (isKnown) this.#clear(slot);
      return;
    }
    this.#statuses[slot] = REQUEST_STATUSES.indexOf(statusOf(bytes)) + 1;
    if (isKnown) return;
    this.#hooks[slot] = this.#hookNumbers.use(hookOf(bytes));
    const event = eventOf(bytes);
    this.#events[slot] = event === null ? 0 : this.#eventNumbers.use(event);
    const eventId = eventIdOf(bytes);
    this.#eventIds[slot] = eventId === null ? 0 : crc32(eventId);
    this.#receivedMs[slot] = receivedMsOf(bytes);
  }

  #clear(slot: number): void {
    this.#statuses[slot] = EMPTY;
    this.#hookNumbers.leave(this.#hooks[slot] ?? 0);
    this.#eventNumbers.leave(this.#events[slot] ?? 0);
  }

  #grow(count: number): void {
    const length = Math.max(SLOTS_MIN, count, this.#statuses.length * 2);
    const grown = <T extends { set(from: T): void }>(column: T, larger: T): T => {
      larger.set(column);
      return larger;
    };
    this.#statuses = grown(this.#statuses, new Uint8Array(length));
    this.#hooks = grown(this.#hooks, new Uint32Array(length));
    this.#events = grown(this.#events, new Uint32Array(length));
    this.#eventIds = grown(this.#eventIds, new Uint32Array(length));
    this.#receivedMs = grown(this.#receivedMs, new Float64Array(length));
  }
}

/** Numbers from 1 on for texts that many records share; a text that none has left is forgotten. */
class Numbers {
  readonly #byText = new Map<string, number>();
  readonly #texts: string[] = [''];
  readonly #counts: number[] = [0];
  readonly #free: number[] = [];

  find(text: string): number | undefined {
    return this.#byText.get(text);
  }

  use(text: string): number {
    const number = this.#byText.get(text) ?? this.#free.pop() ?? this.#texts.length;
    this.#byText.set(text, number);
    this.#texts[number] = text;
    this.#counts[number] = (this.#counts[number] ?? 0) + 1;
    return number;
  }

  leave(number: number): void {
    if (number === 0) return;
    const count = (this.#counts[number] ?? 0) - 1;
    this.#counts[number] = count;
    if (count > 0) return;
    this.#byText.delete(this.#texts[number] ?? '');
    this.#texts[number] = '';
    this.#free.push(number);
  }
}
