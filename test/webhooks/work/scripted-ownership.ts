/** An ownership that a test changes: who holds what, and whether there is time to begin. */
import type { QueueLease, Ownership } from '../../../src/webhooks/work/ownership.ts';

class ScriptedLease implements QueueLease {
  readonly #endController = new AbortController();
  isHeldNow = true;
  isInTime = true;
  underWay = 0;

  beginAttempt(): boolean {
    if (this.isInTime) this.underWay += 1;
    return this.isInTime;
  }

  endAttempt(): void {
    this.underWay -= 1;
  }

  mayContinue(): boolean {
    return this.isInTime;
  }

  get endSignal(): AbortSignal {
    return this.#endController.signal;
  }

  isHeld(): boolean {
    return this.isHeldNow;
  }

  cutOff(): void {
    this.#endController.abort();
  }
}

export class ScriptedOwnership implements Ownership {
  readonly #leases = new Map<string, ScriptedLease>();
  readonly #listeners = new Set<() => void>();
  #isOpen = true;
  #isMaintaining = false;

  findLease(key: string): ScriptedLease | null {
    return this.#leases.get(key) ?? null;
  }

  mayBegin(): boolean {
    return this.#isOpen;
  }

  isMaintainer(): boolean {
    return this.#isMaintaining;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  gain(key: string): ScriptedLease {
    const lease = new ScriptedLease();
    this.#leases.set(key, lease);
    this.#tell();
    return lease;
  }

  /** What is under way ends without a result that counts. */
  lose(key: string): void {
    const lease = this.#leases.get(key);
    if (lease !== undefined) lease.isHeldNow = false;
    this.#leases.delete(key);
    this.#tell();
  }

  setOpen(isOpen: boolean): void {
    this.#isOpen = isOpen;
    if (isOpen) this.#tell();
  }

  setMaintaining(isMaintaining: boolean): void {
    this.#isMaintaining = isMaintaining;
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
