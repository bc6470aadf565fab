/**
 * Requests that were staged a moment ago, with their bodies: what was just encoded need not be
 * decoded to be run. In memory alone, and true of a record only while its bytes are the same.
 */
import type { Known } from '../../work/kind.ts';
import { isSame } from '../../work/unit-of-work.ts';
import type { KeptRequest } from '../../requests/request.ts';

type Recent = Known<KeptRequest> & { readonly body: Buffer };

const COUNT_MAX = 1024;
const BYTES_MAX = 8 << 20;

export class RecentRequests {
  /** In order of arrival. */
  readonly #byId = new Map<string, Recent>();
  #bytes = 0;

  add(recent: Recent): void {
    const { id } = recent.item;
    this.delete(id);
    this.#byId.set(id, recent);
    this.#bytes += sizeOf(recent);
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= COUNT_MAX && this.#bytes <= BYTES_MAX) return;
      this.delete(oldest);
    }
  }

  /** `bytes` are the record's now. */
  find(id: string, bytes: Buffer): Recent | undefined {
    const recent = this.#byId.get(id);
    return recent !== undefined && isSame(recent.bytes, bytes) ? recent : undefined;
  }

  delete(id: string): void {
    const recent = this.#byId.get(id);
    if (recent === undefined) return;
    this.#byId.delete(id);
    this.#bytes -= sizeOf(recent);
  }
}

function sizeOf({ bytes, body }: Recent): number {
  return bytes.length + body.length;
}
