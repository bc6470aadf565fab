/** Lists of requests, the newest first: those on disk, and the rejected ones in memory. */
import type { Collection } from '../../store/store-port.ts';
import { decodeRequest } from './codec.ts';
import { RequestColumns, type RequestFilter } from './columns.ts';
import type { KeptRequest } from './request.ts';

/** The rejected ones, which are kept in memory alone. */
export interface RejectedRequests {
  all(): Iterable<KeptRequest>;
  /** `body` is its beginning unless it `isWhole`. */
  find(id: string): {
    readonly request: KeptRequest; readonly body: Buffer; readonly isWhole: boolean;
  } | undefined;
}

export class RequestList {
  readonly #records: Collection;
  readonly #rejected: RejectedRequests;
  readonly #columns: RequestColumns;

  constructor(records: Collection, rejected: RejectedRequests) {
    this.#records = records;
    this.#rejected = rejected;
    this.#columns = new RequestColumns(records);
  }

  close(): void {
    this.#columns.close();
  }

  /** Up to `limit` requests that are older than the one with the id `before`. */
  async page(filter: RequestFilter, before: string | null, limit: number): Promise<KeptRequest[]> {
    const rejected = this.#rejectedOf(filter).filter(({ id }) => before === null || id < before)
      .sort((left, right) => left.id < right.id ? 1 : -1).slice(0, limit);
    const kept = await this.#storedPage(filter, before, limit);
    const page: KeptRequest[] = [];
    for (let index = 0; page.length < limit;) {
      const stored = kept[index];
      const [other] = rejected;
      const isStoredNext = stored !== undefined && (other === undefined || stored.id > other.id);
      const next = isStoredNext ? stored : rejected.shift();
      if (next === undefined) break;
      if (isStoredNext) index += 1;
      page.push(next);
    }
    return page;
  }

  /** How many match, on all pages. */
  async count(filter: RequestFilter): Promise<number> {
    const rejected = this.#rejectedOf(filter).length;
    if (filter.status === 'rejected') return rejected;
    if (isOpen(filter)) return rejected + this.#records.size;
    await this.#columns.ready();
    const matches = this.#columns.matcher(filter);
    if (matches === null) return rejected;
    let count = 0;
    for (let slot = 0; slot < this.#records.slotBound; slot += 1) {
      if (matches(slot)) count += 1;
    }
    return rejected + count;
  }

  async #storedPage(
    filter: RequestFilter, before: string | null, limit: number,
  ): Promise<KeptRequest[]> {
    const found: KeptRequest[] = [];
    if (filter.status === 'rejected') return found;
    if (!isOpen(filter)) await this.#columns.ready();
    const matches = isOpen(filter) ? () => true : this.#columns.matcher(filter);
    if (matches === null) return found;
    const walk = this.#records.walk({ after: before, isDescending: true });
    for (let slot = walk.next(); slot !== -1 && found.length < limit; slot = walk.next()) {
      if (!matches(slot)) continue;
      const bytes = this.#records.bytesAt(slot);
      if (bytes !== undefined) found.push(decodeRequest(bytes));
    }
    return found;
  }

  #rejectedOf(filter: RequestFilter): KeptRequest[] {
    return [...this.#rejected.all()].filter((request) => isWanted(filter, request));
  }
}

function isOpen(filter: RequestFilter): boolean {
  return Object.values(filter).every((wanted) => wanted === null);
}

function isWanted(filter: RequestFilter, request: KeptRequest): boolean {
  const { hook, status, event, eventId, sinceMs, untilMs } = filter;
  const atMs = Date.parse(request.receivedAt);
  return (hook === null || hook === request.hook) && (status === null || status === request.status)
    && (event === null || event === request.event)
    && (eventId === null || eventId === request.eventId)
    && (sinceMs === null || atMs >= sinceMs) && (untilMs === null || atMs < untilMs);
}
