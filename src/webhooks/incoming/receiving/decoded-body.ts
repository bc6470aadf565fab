/**
 * What a body was decoded to, for all routes of a request: a payload can be twenty times as large
 * as its body, and takes as long to make; a plain body can be a thousand times as large. Nobody
 * changes it: an action of one's own gets a copy.
 */
import { estimateParsedBytes } from '../../../base/json/parsed-size.ts';
import type { Payload } from '../../actions/action-payload.ts';
import { isDecoded, type PlainBody } from '../../senders/request/plain-body.ts';
import type { BodyReading } from '../body-format.ts';

/** What a route may hold of a body: its text or its copy for a worker, and what it writes of it. */
const COPIES_PER_ROUTE = 2;

/** The bytes that the routes of a request hold while they run. They share its payload. */
export function weighRun(body: Buffer, plainBody: PlainBody, routeCount: number): number {
  const content = isDecoded(plainBody) ? plainBody : body;
  return estimateParsedBytes(content) + weighPlainBody(body, plainBody)
    + COPIES_PER_ROUTE * routeCount * Math.max(body.length, content.length);
}

/** The bytes that a plain body takes beside the body; mostly they are the same. */
export function weighPlainBody(body: Buffer, plainBody: PlainBody): number {
  return plainBody === body || !isDecoded(plainBody) ? 0 : plainBody.length;
}

export class DecodedBody {
  readonly #isShared: boolean;
  #plainBody: PlainBody | null = null;
  #payload: Payload | null | undefined;
  #bytes: Buffer | null | undefined;

  /** `isShared`: several routes ask for it. */
  constructor(isShared = false) {
    this.#isShared = isShared;
  }

  /** `decode` is called once. */
  readPlainBody(decode: () => PlainBody): PlainBody {
    this.#plainBody ??= decode();
    return this.#plainBody;
  }

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

  /** Drops the payload unless others need it: actions that have its bytes may run for long. */
  forget(): void {
    if (!this.#isShared) this.#payload = undefined;
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
    const decoded = new DecodedBody(true);
    this.#requestId = requestId;
    this.#reading = reading;
    this.#decoded = new WeakRef(decoded);
    return decoded;
  }
}
