/**
 * What a body was decoded to, for all routes of a request: a payload can be twenty times as large
 * as its body, and takes as long to make. Nobody changes it: an action of one's own gets a copy.
 */
import type { Payload } from '../../actions/action-payload.ts';

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
