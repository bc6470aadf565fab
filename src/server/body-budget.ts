/**
 * The memory that all bodies share while they arrive. Without it ten thousand connections, each a
 * byte short of its end, would hold ten thousand times the limit of one body. When the budget is
 * exceeded, the body that has stalled for the longest time is given up, so that clients that stall
 * cannot keep out clients that send.
 */
export class BodyBudget {
  /** The limit of one body. */
  readonly bodyBytesMax: number;
  readonly #bytesMax: number;
  /** In order of their last bytes: the one that has stalled for the longest time is first. */
  readonly #pendingBodies = new Set<PendingBody>();
  #bytes = 0;

  constructor(bodyBytesMax: number, bytesMax: number) {
    this.bodyBytesMax = bodyBytesMax;
    this.#bytesMax = Math.max(bodyBytesMax, bytesMax);
  }

  reserve(body: PendingBody, bytes: number): void {
    this.#pendingBodies.delete(body);
    this.#pendingBodies.add(body);
    body.bytes += bytes;
    this.#bytes += bytes;
    for (const stalledBody of this.#pendingBodies) {
      if (this.#bytes <= this.#bytesMax) return;
      this.release(stalledBody);
      stalledBody.giveUp();
    }
  }

  /** Frees the bytes of a body that has ended in any way. Idempotent. */
  release(body: PendingBody): void {
    if (this.#pendingBodies.delete(body)) this.#bytes -= body.bytes;
  }
}

/** A body that has not arrived whole yet. */
export type PendingBody = {
  bytes: number;
  /** Called when its bytes are needed for other bodies. */
  readonly giveUp: () => void;
};
