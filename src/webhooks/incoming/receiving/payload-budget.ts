/**
 * How much memory payloads may take in all, those of requests under way and of runs of kept ones: a
 * sender that nobody knows can send bodies that take twenty times their length once they are
 * parsed.
 */
import { estimateParsedBytes } from '../../../base/json/parsed-size.ts';

export class PayloadBudget {
  readonly #bytesMax: number;
  #reservedBytes = 0;
  #runCount = 0;
  /** What the run takes that found no room last; null: none waits. */
  #waitingBytes: number | null = null;
  #onFree: () => void = () => {};

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What the body takes, to be given back; null: there is no room. One alone always has room. */
  reserve(body: Buffer): number | null {
    const bytes = estimateParsedBytes(body);
    if (this.#reservedBytes > 0 && this.#reservedBytes + bytes > this.#bytesMax) return null;
    this.#reservedBytes += bytes;
    return bytes;
  }

  release(bytes: number): void {
    this.#reservedBytes -= bytes;
    if (this.#waitingBytes === null || !this.#mayRun(this.#waitingBytes)) return;
    this.#waitingBytes = null;
    this.#onFree();
  }

  /** The same for the run of a kept request; after null `onFree` tells when there is room. */
  reserveForRun(body: Buffer): number | null {
    const bytes = estimateParsedBytes(body);
    if (!this.#mayRun(bytes)) {
      this.#waitingBytes = bytes;
      return null;
    }
    this.#runCount += 1;
    this.#reservedBytes += bytes;
    return bytes;
  }

  releaseRun(bytes: number): void {
    this.#runCount -= 1;
    this.release(bytes);
  }

  onFree(listener: () => void): void {
    this.#onFree = listener;
  }

  /**
   * The only run has room beside requests under way, however large it is: requests that keep coming
   * must not keep it from its turn. Beside one that is too large for the room by itself it waits.
   */
  #mayRun(bytes: number): boolean {
    return (this.#runCount === 0 && this.#reservedBytes <= this.#bytesMax)
      || this.#reservedBytes + bytes <= this.#bytesMax;
  }
}
