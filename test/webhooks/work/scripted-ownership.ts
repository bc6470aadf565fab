/** An ownership that a test changes: who holds what, and whether there is time to begin. */
import type { Hold, Ownership } from '../../../src/webhooks/work/ownership.ts';

class ScriptedHold implements Hold {
  readonly #ended = new AbortController();
  isKeptNow = true;
  isInTime = true;
  underWay = 0;

  begin(): boolean {
    if (this.isInTime) this.underWay += 1;
    return this.isInTime;
  }

  end(): void {
    this.underWay -= 1;
  }

  mayBegin(): boolean {
    return this.isInTime;
  }

  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  isKept(): boolean {
    return this.isKeptNow;
  }

  cutOff(): void {
    this.#ended.abort();
  }
}

export class ScriptedOwnership implements Ownership {
  readonly #holds = new Map<string, ScriptedHold>();
  readonly #listeners = new Set<() => void>();
  #isOpen = true;
  #isMaintaining = false;

  holdOf(key: string): ScriptedHold | null {
    return this.#holds.get(key) ?? null;
  }

  mayBegin(): boolean {
    return this.#isOpen;
  }

  maintains(): boolean {
    return this.#isMaintaining;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  gain(key: string): ScriptedHold {
    const hold = new ScriptedHold();
    this.#holds.set(key, hold);
    this.#tell();
    return hold;
  }

  /** What is under way ends without a result that counts. */
  lose(key: string): void {
    const hold = this.#holds.get(key);
    if (hold !== undefined) hold.isKeptNow = false;
    this.#holds.delete(key);
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
