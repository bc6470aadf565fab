/**
 * Requests that were rejected, in memory alone: anyone can send them, and no stranger is to fill a
 * disk, or the memory. The oldest go first, a webhook's own before those of others.
 */
import type { RejectedRequests } from '../../inbox/request-list.ts';
import { estimateHeadBytes, type StoredRequest } from '../../inbox/stored-request.ts';

const HOOK_MAX = 100;
const ALL_MAX = 1000;
const BODY_BYTES_MAX = 8 * 1024;
// A thousand headers of a few characters take ten times their length, so counts are not enough.
const HOOK_BYTES_MAX = 2 << 20;
const ALL_BYTES_MAX = 12 << 20;

type Rejected = {
  readonly request: StoredRequest; readonly body: Buffer; readonly isWhole: boolean;
};
/** The requests of one webhook: their ids in order of arrival. */
type OfHook = { readonly ids: Set<string>; bytes: number };

export class RejectedRing implements RejectedRequests {
  /** In order of arrival. */
  readonly #byId = new Map<string, Rejected>();
  readonly #byHook = new Map<string, OfHook>();
  #bytes = 0;

  /** `body` is null when it was never read. */
  add(request: StoredRequest, body: Buffer | null): void {
    const { id, hook } = request;
    // A copy, as a slice would keep all of it.
    const kept = Buffer.from(body?.subarray(0, BODY_BYTES_MAX) ?? '');
    const rejected = { request, body: kept, isWhole: kept.length === body?.length };
    const ofHook = this.#byHook.get(hook) ?? { ids: new Set(), bytes: 0 };
    this.#byHook.set(hook, ofHook);
    ofHook.ids.add(id);
    this.#byId.set(id, rejected);
    this.#count(ofHook, sizeOf(rejected));
    while (ofHook.ids.size > HOOK_MAX || ofHook.bytes > HOOK_BYTES_MAX) {
      this.#removeFirst(ofHook.ids);
    }
    while (this.#byId.size > ALL_MAX || this.#bytes > ALL_BYTES_MAX) {
      this.#removeFirst(this.#byId.keys());
    }
  }

  * all(): Iterable<StoredRequest> {
    for (const { request } of this.#byId.values()) yield request;
  }

  find(id: string): Rejected | undefined {
    return this.#byId.get(id);
  }

  #removeFirst(ids: Iterable<string>): void {
    for (const id of ids) {
      const rejected = this.#byId.get(id);
      const ofHook = this.#byHook.get(rejected?.request.hook ?? '');
      if (rejected === undefined || ofHook === undefined) return;
      this.#byId.delete(id);
      ofHook.ids.delete(id);
      this.#count(ofHook, -sizeOf(rejected));
      if (ofHook.ids.size === 0) this.#byHook.delete(rejected.request.hook);
      return;
    }
  }

  #count(ofHook: OfHook, bytes: number): void {
    ofHook.bytes += bytes;
    this.#bytes += bytes;
  }
}

function sizeOf({ request, body }: Rejected): number {
  return estimateHeadBytes(request) + body.length;
}
