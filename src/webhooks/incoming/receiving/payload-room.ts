/**
 * How much memory payloads may take in all, those of requests under way and of runs of kept ones: a
 * sender that nobody knows can send bodies that take twenty times their length once they are
 * parsed.
 */
import { estimateParsedBytes } from '../../../base/json/parsed-size.ts';

export class PayloadRoom {
  readonly #bytesMax: number;
  #bytes = 0;
  #runCount = 0;
  /** What the run takes that found no room last; null: none waits. */
  #wantedBytes: number | null = null;
  #onFree: () => void = () => {};

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What the body takes, to be given back; null: there is no room. One alone always has room. */
  take(body: Buffer): number | null {
    const bytes = estimateParsedBytes(body);
    if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) return null;
    this.#bytes += bytes;
    return bytes;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#wantedBytes === null || !this.#mayRun(this.#wantedBytes)) return;
    this.#wantedBytes = null;
    this.#onFree();
  }

  /** The same for the run of a kept request; after null `onFree` tells when there is room. */
  takeForRun(body: Buffer): number | null {
    const bytes = estimateParsedBytes(body);
    if (!this.#mayRun(bytes)) {
      this.#wantedBytes = bytes;
      return null;
    }
    this.#runCount += 1;
    this.#bytes += bytes;
    return bytes;
  }

  giveBackRun(bytes: number): void {
    this.#runCount -= 1;
    this.giveBack(bytes);
  }

  onFree(listener: () => void): void {
    this.#onFree = listener;
  }

  /**
   * The only run has room beside requests under way, however large it is: requests that keep coming
   * must not keep it from its turn. Beside one that is too large for the room by itself it waits.
   */
  #mayRun(bytes: number): boolean {
    return (this.#runCount === 0 && this.#bytes <= this.#bytesMax)
      || this.#bytes + bytes <= this.#bytesMax;
  }
}
