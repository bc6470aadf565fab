/**
 * What a body was decoded to, for all routes of a request: a payload can be twenty times as large
 * as its body, and takes as long to make. Nobody changes it: an action of one's own gets a copy.
 */
import { estimateParsedBytes } from '../../../base/json/parsed-size.ts';
import type { Payload } from '../../actions/action-payload.ts';
import type { BodyReading } from '../body-format.ts';

/** What a route may hold of a body: its text or its copy for a worker, and what it writes of it. */
const COPIES_PER_ROUTE = 2;

/** The bytes that the routes of a request hold while they run. They share its payload. */
export function weighRun(body: Buffer, routeCount: number): number {
  return estimateParsedBytes(body) + COPIES_PER_ROUTE * routeCount * body.length;
}

export class DecodedBody {
  #payload: Payload | null | undefined;
  #bytes: Buffer | null | undefined;

  /** null: the body is not of its kind. `read` is called once, and again after `forget`. */
  readPayload(read: () => Payload | null): Payload | null {
    if (this.#payload === undefined) this.#payload = read();
    return this.#payload;
  }

  /** The payload as JSON; null: the body is not of its kind. `encode` is called once. */
  readBytes(encode: () => Buffer | null): Buffer | null {
    if (this.#bytes === undefined) this.#bytes = encode();
    return this.#bytes;
  }

  /** Drops the payload, as actions that have its bytes may run for long. */
  forget(): void {
    this.#payload = undefined;
  }
}

/**
 * What the body of one stored request was decoded to: that of the last one that was asked for, as
 * its routes mostly run one after the other.
 */
export class LastDecodedBody {
  #requestId: string | null = null;
  #reading: BodyReading | null = null;
  // Nobody says when the last route has run: while no run holds it, the memory may be taken back.
  #decoded: WeakRef<DecodedBody> | null = null;

  /** `reading` says how the body is decoded. */
  share(requestId: string, reading: BodyReading): DecodedBody {
    const isSame = this.#requestId === requestId && this.#reading === reading;
    const last = isSame ? this.#decoded?.deref() : undefined;
    if (last !== undefined) return last;
    const decoded = new DecodedBody();
    this.#requestId = requestId;
    this.#reading = reading;
    this.#decoded = new WeakRef(decoded);
    return decoded;
  }
}
