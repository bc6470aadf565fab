/**
 * Requests that were staged a moment ago, with their bodies, so that a run need not decode what was
 * just encoded: a request that is accepted and then run takes 71 µs of CPU time, and 77 without
 * them (bench `accept`). They are in memory alone, and valid only while the bytes of their record
 * are the same.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { estimateHeadBytes, type StoredRequest } from '../../incoming/stored-request.ts';
import { isSameMemory, type StoredItem } from '../../work/item-spec.ts';

type RecentRequest = {
  readonly stored: StoredItem<StoredRequest>;
  readonly body: Buffer;
  /**
   * The headers as Node gave them, if the record has them all; null: to be built from the record.
   */
  readonly headers: IncomingHttpHeaders | null;
};

const COUNT_MAX = 1024;
const BYTES_MAX = 8 << 20;

export class RecentRequests {
  // In order of arrival. A Map keeps its deleted values alive until the next full collection
  // (`StagedRecords`), so each value is a small entry that is emptied when it is deleted.
  readonly #byId = new Map<string, { request: RecentRequest | null }>();
  #bytes = 0;

  add(request: RecentRequest): void {
    const { id } = request.stored.item;
    this.delete(id);
    this.#byId.set(id, { request });
    this.#bytes += estimateBytes(request);
    if (this.#byId.size > COUNT_MAX || this.#bytes > BYTES_MAX) this.#deleteOldest();
  }

  /** `bytes` is the current record. */
  find(id: string, bytes: Buffer): RecentRequest | undefined {
    const request = this.get(id);
    return request !== undefined && isSameMemory(request.stored.bytes, bytes) ? request : undefined;
  }

  /** For callers that delete each request whose record has changed. */
  get(id: string): RecentRequest | undefined {
    return this.#byId.get(id)?.request ?? undefined;
  }

  delete(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    if (entry.request !== null) this.#bytes -= estimateBytes(entry.request);
    entry.request = null;
  }

  /** Deletes the oldest requests until the limits hold. */
  #deleteOldest(): void {
    for (const id of this.#byId.keys()) {
      if (this.#byId.size <= COUNT_MAX && this.#bytes <= BYTES_MAX) return;
      this.delete(id);
    }
  }
}

function estimateBytes({ stored: { bytes, item }, body }: RecentRequest): number {
  return bytes.length + estimateHeadBytes(item) + body.length;
}
