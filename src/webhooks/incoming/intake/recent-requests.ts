/**
 * Requests that were staged a moment ago, with their bodies: what was just encoded need not be
 * decoded to be run. In memory alone, and true of a record only while its bytes are the same.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { estimateHeadBytes, type StoredRequest } from '../../inbox/stored-request.ts';
import type { StoredItem } from '../../durable-queue/queue-spec.ts';
import { isSameMemory } from '../../durable-queue/unit-of-work.ts';

type RecentRequest = StoredItem<StoredRequest> & {
  readonly body: Buffer;
  /** As Node gives them, where none was left out of the record; null: to be made from that. */
  readonly headers?: IncomingHttpHeaders | null;
};

const COUNT_MAX = 1024;
const BYTES_MAX = 8 << 20;

export class RecentRequests {
  // In order of arrival. A Map that is emptied one by one and filled again keeps alive, until the
  // next full collection, whatever has passed through (staged-records.ts): that is empty places.
  readonly #byId = new Map<string, { recent: RecentRequest | null }>();
  #bytes = 0;

  add(recent: RecentRequest): void {
    const { id } = recent.item;
    this.delete(id);
    this.#byId.set(id, { recent });
    this.#bytes += estimateBytes(recent);
    if (this.#byId.size > COUNT_MAX || this.#bytes > BYTES_MAX) this.#drop();
  }

  /** `bytes` are the record's now. */
  find(id: string, bytes: Buffer): RecentRequest | undefined {
    const recent = this.get(id);
    return recent !== undefined && isSameMemory(recent.bytes, bytes) ? recent : undefined;
  }

  /** For who deletes each that is not what is stored any more. */
  get(id: string): RecentRequest | undefined {
    return this.#byId.get(id)?.recent ?? undefined;
  }

  delete(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    if (entry.recent !== null) this.#bytes -= estimateBytes(entry.recent);
    entry.recent = null;
  }

  /** The oldest. */
  #drop(): void {
    for (const id of this.#byId.keys()) {
      if (this.#byId.size <= COUNT_MAX && this.#bytes <= BYTES_MAX) return;
      this.delete(id);
    }
  }
}

function estimateBytes({ bytes, item, body }: RecentRequest): number {
  return bytes.length + estimateHeadBytes(item) + body.length;
}
