/**
 * Wakes watchers when other nodes have appended. The server is asked for notifications only while
 * there are watchers: each notification wakes a process of the server, and this one.
 */
import type { Connection } from './driver.ts';
import { LISTEN, UNLISTEN } from './statements.ts';

export class Notifications {
  readonly #writer: Connection;
  /** False where the service has no LISTEN. */
  readonly #isSupported: boolean;
  #isListening: boolean;
  readonly #wakes = new Set<() => void>();
  /** Sequences of this node's appends, whose notifications are still to come and wake nobody. */
  readonly #ownSequences = new Set<string>();
  /** The entries of other nodes were read up to this sequence. */
  #readUntil = 0;

  /** `writer` listens already, if the service supports that. */
  constructor(writer: Connection, isSupported: boolean) {
    this.#writer = writer;
    this.#isSupported = isSupported;
    this.#isListening = isSupported;
  }

  /** Calls `wake` when others have appended, until the returned function is called. */
  watch(wake: () => void): () => void {
    this.#wakes.add(wake);
    this.#listen(true);
    return () => {
      this.#wakes.delete(wake);
      this.#listen(this.#wakes.size > 0);
    };
  }

  /** Called when an append up to `sequence` is sent. */
  expectOwn(sequence: number): void {
    if (this.#isListening) this.#ownSequences.add(String(sequence));
  }

  /** Called when that append has committed nothing. */
  dropOwn(sequence: number): void {
    this.#ownSequences.delete(String(sequence));
  }

  /** Called when the entries up to `sequence` have been read: their notifications wake nobody. */
  markRead(sequence: number): void {
    this.#readUntil = Math.max(this.#readUntil, sequence);
  }

  /** Called with the sequence of an append that was notified. */
  onNotification(payload: string): void {
    if (this.#ownSequences.delete(payload) || Number(payload) <= this.#readUntil) return;
    this.#wakeAll();
  }

  #listen(isNeeded: boolean): void {
    if (this.#isListening === isNeeded || !this.#isSupported) return;
    this.#isListening = isNeeded;
    this.#ownSequences.clear();
    // Appends before the server listens again are not notified, so all watchers wake once then. An
    // error here needs no report: the loss of the connection is reported on its own.
    this.#writer.query(isNeeded ? LISTEN : UNLISTEN).then(() => {
      if (isNeeded) this.#wakeAll();
    }, () => undefined);
  }

  #wakeAll(): void {
    for (const wake of this.#wakes) wake();
  }
}
