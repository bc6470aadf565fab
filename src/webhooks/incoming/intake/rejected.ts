/**
 * Requests that were rejected, in memory alone: anyone can send them, and no stranger is to fill a
 * disk. The oldest go first, a webhook's own before those of others.
 */
import type { RejectedRequests } from '../../requests/list.ts';
import type { KeptRequest } from '../../requests/request.ts';

const HOOK_MAX = 100;
const ALL_MAX = 1000;
const BODY_BYTES_MAX = 8 * 1024;

type Rejected = { readonly request: KeptRequest; readonly body: Buffer; readonly isWhole: boolean };

export class RejectedRing implements RejectedRequests {
  /** In order of arrival. */
  readonly #byId = new Map<string, Rejected>();
  /** Ids by webhook, in order of arrival. */
  readonly #byHook = new Map<string, Set<string>>();

  /** `body` is null when it was never read. */
  add(request: KeptRequest, body: Buffer | null): void {
    const { id, hook } = request;
    const ids = this.#byHook.get(hook) ?? new Set();
    if (ids.size >= HOOK_MAX) this.#removeFirst(ids);
    if (this.#byId.size >= ALL_MAX) this.#removeFirst(this.#byId.keys());
    this.#byHook.set(hook, ids.add(id));
    // A copy, as a slice would keep all of it.
    const kept = Buffer.from(body?.subarray(0, BODY_BYTES_MAX) ?? '');
    this.#byId.set(id, { request, body: kept, isWhole: kept.length === body?.length });
  }

  * all(): Iterable<KeptRequest> {
    for (const { request } of this.#byId.values()) yield request;
  }

  find(id: string): Rejected | undefined {
    return this.#byId.get(id);
  }

  #removeFirst(ids: Iterable<string>): void {
    for (const id of ids) {
      const hook = this.#byId.get(id)?.request.hook ?? '';
      this.#byId.delete(id);
      const others = this.#byHook.get(hook);
      others?.delete(id);
      if (others?.size === 0) this.#byHook.delete(hook);
      return;
    }
  }
}
