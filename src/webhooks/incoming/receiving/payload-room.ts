/**
 * How much memory the payloads of requests under way may take in all: a sender that nobody knows
 * can send bodies that take twenty times their length once they are parsed.
 */
import { parsedBytes } from '../../../base/json/weight.ts';

export class PayloadRoom {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What the body takes, to be given back; null: there is no room. One alone always has room. */
  take(body: Buffer): number | null {
    const bytes = parsedBytes(body);
    if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) return null;
    this.#bytes += bytes;
    return bytes;
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}
