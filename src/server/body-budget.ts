/**
 * How much the bodies that are still arriving may hold in all: else ten thousand connections, each
 * a byte short of its end, hold ten thousand times the limit of one. Who has sent nothing for the
 * longest time goes first, so that those who stall do not keep out those who send.
 */
export type PendingBody = {
  bytes: number;
  /** Told that its bytes are wanted for others. */
  readonly giveUp: () => void;
};

export class BodyBudget {
  /** Of one body. */
  readonly bodyBytesMax: number;
  readonly #bytesMax: number;
  /** The one that has sent nothing for the longest time is the first. */
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

  /** It has come to its end, one way or another; it does not matter how often this is said. */
  release(body: PendingBody): void {
    if (this.#pendingBodies.delete(body)) this.#bytes -= body.bytes;
  }
}
