/**
 * The memory that parsed payloads may take in all, of running requests and of runs of stored ones.
 * A body from an unknown sender can take twenty times its length once it is parsed.
 */
import { estimateParsedBytes } from '../../../base/json/parsed-size.ts';

export class PayloadBudget {
  readonly #bytesMax: number;
  #reservedBytes = 0;
  #runCount = 0;
  /** The bytes of the last run that found no room; null: none waits. */
  #waitingBytes: number | null = null;
  #onFree: () => void = () => {};

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Reserves the memory of a body and gives its bytes, to be given back by `release`; null: there
   * is no room. A single body always has room.
   */
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

  /**
   * Reserves the memory of a body for the run of a stored request, and gives its bytes, to be
   * released by `releaseRun`; null: there is no room, and `onFree` is called when there is.
   */
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

  /** Lets a run that waits, and parses nothing meanwhile, hold the memory of its body alone. */
  beginWait(bytes: number, body: Buffer): void {
    this.#runCount -= 1;
    this.release(bytes - body.length);
  }

  /**
   * Ends the wait of a run. It has room whatever others hold: who has runs wait limits how many go
   * on.
   */
  endWait(bytes: number, body: Buffer): void {
    this.#runCount += 1;
    this.#reservedBytes += bytes - body.length;
  }

  onFree(listener: () => void): void {
    this.#onFree = listener;
  }

  /**
   * A single run has room beside running requests, however large it is, as a stream of requests
   * must not keep it waiting for ever. Beside another run it waits for room.
   */
  #mayRun(bytes: number): boolean {
    return (this.#runCount === 0 && this.#reservedBytes <= this.#bytesMax)
      || this.#reservedBytes + bytes <= this.#bytesMax;
  }
}
