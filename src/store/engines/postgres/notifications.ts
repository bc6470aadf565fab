/**
 * Tells who watches that others have appended. The server is asked for notifications only while
 * somebody does: each wakes a process of the server and this one.
 */
import type { Connection } from './driver.ts';
import { LISTEN, UNLISTEN } from './statements.ts';

export class Notifications {
  readonly #writer: Connection;
  /** False where the service has no LISTEN. */
  readonly #isSupported: boolean;
  #isListening: boolean;
  readonly #wakes = new Set<() => void>();
  /** Sequences that were appended here, until their notifications come: they are no news. */
  readonly #ownSequences = new Set<string>();
  /** Others' entries were read up to here. */
  #readUntil = 0;

  /** The connection listens already, where it can. */
  constructor(writer: Connection, isSupported: boolean) {
    this.#writer = writer;
    this.#isSupported = isSupported;
    this.#isListening = isSupported;
  }

  watch(wake: () => void): () => void {
    this.#wakes.add(wake);
    this.#listen(true);
    return () => {
      this.#wakes.delete(wake);
      this.#listen(this.#wakes.size > 0);
    };
  }

  /** An append up to `sequence` is sent. */
  expectOwn(sequence: number): void {
    if (this.#isListening) this.#ownSequences.add(String(sequence));
  }

  /** It has committed nothing. */
  dropOwn(sequence: number): void {
    this.#ownSequences.delete(String(sequence));
  }

  markRead(sequence: number): void {
    this.#readUntil = Math.max(this.#readUntil, sequence);
  }

  /** Of the notification of an append, with its sequence. */
  onNotification(payload: string): void {
    if (this.#ownSequences.delete(payload) || Number(payload) <= this.#readUntil) return;
    this.#wakeAll();
  }

  #listen(isNeeded: boolean): void {
    if (this.#isListening === isNeeded || !this.#isSupported) return;
    this.#isListening = isNeeded;
    this.#ownSequences.clear();
    // Of what came before the server listens again nobody is told. A loss is told by itself.
    this.#writer.query(isNeeded ? LISTEN : UNLISTEN).then(() => this.#wakeAll(), () => undefined);
  }

  #wakeAll(): void {
    for (const wake of this.#wakes) wake();
  }
}
