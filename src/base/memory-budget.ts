const BYTES_MAX = 1 << 30;
/** Room for a hundred of the largest bodies at once. */
export const BODIES_BYTES_MAX = 256 << 20;

/**
 * The memory that requests under way share: bodies while they arrive, requests that are handled,
 * and runs of stored requests. Their holders weigh them, as often as they hold them. Beyond the
 * budget a sender is told to come again, and a stored request waits.
 */
export class MemoryBudget {
  readonly #bytesMax: number;
  readonly #bodiesBytesMax: number;
  /** In order of their last bytes: the body that has stalled for the longest time is first. */
  readonly #arrivingBodies = new Set<ArrivingBody>();
  #arrivingBytes = 0;
  /** The bytes that requests and runs hold. */
  #heldBytes = 0;
  #runCount = 0;
  /** The bytes of the last run that found no room; null: none waits. */
  #waitingBytes: number | null = null;
  #onFree: () => void = () => {};

  /** `bodiesBytesMax` is the part that arriving bodies may take: at least the largest body. */
  constructor(bytesMax = BYTES_MAX, bodiesBytesMax = BODIES_BYTES_MAX) {
    this.#bytesMax = bytesMax;
    this.#bodiesBytesMax = bodiesBytesMax;
  }

  /**
   * Adds bytes of a body that arrives. When all of them exceed their part, the body that has
   * stalled for the longest time is given up, so that clients that stall cannot keep out clients
   * that send.
   */
  addArrived(body: ArrivingBody, bytes: number): void {
    this.#arrivingBodies.delete(body);
    this.#arrivingBodies.add(body);
    body.bytes += bytes;
    this.#arrivingBytes += bytes;
    for (const stalledBody of this.#arrivingBodies) {
      if (this.#arrivingBytes <= this.#bodiesBytesMax) return;
      this.endArrival(stalledBody);
      stalledBody.giveUp();
    }
  }

  /** Frees the bytes of a body that has ended in any way. Idempotent. */
  endArrival(body: ArrivingBody): void {
    if (!this.#arrivingBodies.delete(body)) return;
    this.#arrivingBytes -= body.bytes;
    this.#callIfFree();
  }

  /**
   * Reserves bytes for a request. False: there is no room. A single request always has room, and
   * so has a request that holds nothing.
   */
  reserve(bytes: number): boolean {
    if (bytes > 0 && this.#heldBytes > 0 && !this.#fits(bytes)) return false;
    this.#heldBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#callIfFree();
  }

  /** Reserves bytes for a run. False: there is no room, and `onFree` is called when there is. */
  beginRun(bytes: number): boolean {
    if (!this.#mayRun(bytes)) {
      this.#waitingBytes = bytes;
      return false;
    }
    this.resumeRun(bytes);
    return true;
  }

  /** Releases bytes of a run that has ended, or that holds only the rest while it waits. */
  endRun(bytes: number): void {
    this.#runCount -= 1;
    this.release(bytes);
  }

  /** Goes on with a run that has waited, whatever others hold: its caller limits their number. */
  resumeRun(bytes: number): void {
    this.#runCount += 1;
    this.#heldBytes += bytes;
  }

  /** Whether the last run found no room, and there is none yet. */
  get isRunWaiting(): boolean {
    return this.#waitingBytes !== null;
  }

  onFree(listener: () => void): void {
    this.#onFree = listener;
  }

  #fits(bytes: number): boolean {
    return this.#arrivingBytes + this.#heldBytes + bytes <= this.#bytesMax;
  }

  /**
   * A single run has room beside requests, however large it is, as a stream of requests must not
   * keep it waiting for ever. Beside another run it waits for room.
   */
  #mayRun(bytes: number): boolean {
    return (this.#runCount === 0 && this.#heldBytes <= this.#bytesMax) || this.#fits(bytes);
  }

  #callIfFree(): void {
    if (this.#waitingBytes === null || !this.#mayRun(this.#waitingBytes)) return;
    this.#waitingBytes = null;
    this.#onFree();
  }
}

/** A body that has not arrived whole yet. */
export type ArrivingBody = {
  bytes: number;
  /** Called when its bytes are needed for other bodies. */
  readonly giveUp: () => void;
};
