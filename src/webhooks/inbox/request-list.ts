/** Lists requests, newest first: the stored ones, and the rejected ones, which are in memory. */
import { findCommitted } from '../../store/find-record.ts';
import type { Collection, FindRecord, Store } from '../../store/store-port.ts';
import { isInTime } from '../durable-queue/queue-filter.ts';
import { countMatching, listMatchingPage } from '../durable-queue/slot-matches.ts';
import { decodeRequest } from './request-codec.ts';
import { RequestColumns, type RequestFilter } from './request-columns.ts';
import type { RequestStates } from './request-states.ts';
import { requestCollection, type StoredRequest } from './stored-request.ts';

/** The rejected requests, which are in memory alone. */
export interface RejectedRequests {
  all(): Iterable<StoredRequest>;
  /** Finds a rejected request. Unless `isWhole`, only the beginning of its body was kept. */
  find(id: string): {
    readonly request: StoredRequest; readonly body: Buffer; readonly isWhole: boolean;
  } | undefined;
}

/** What a list or a search goes through: stored requests whose slots match, and rejected ones. */
export type RequestSelection = {
  /** The id behind which it begins. */
  readonly before: string | null;
  /** null: no stored request matches. */
  readonly matches: ((slot: number) => boolean) | null;
  /** Newest first. */
  readonly rejected: readonly StoredRequest[];
};

export class RequestList {
  readonly #records: Collection;
  readonly #find: FindRecord;
  readonly #rejected: RejectedRequests;
  readonly #columns: RequestColumns;

  constructor(
    store: Pick<Store, 'collection'>, states: RequestStates, rejected: RejectedRequests,
  ) {
    this.#records = store.collection(requestCollection.name);
    this.#find = findCommitted(store);
    this.#rejected = rejected;
    this.#columns = new RequestColumns(this.#records, states);
  }

  close(): void {
    this.#columns.close();
  }

  /** Lists up to `limit` requests that are older than the one with the id `before`. */
  async listPage(
    filter: RequestFilter, before: string | null, limit: number,
  ): Promise<StoredRequest[]> {
    const { matches, rejected } = await this.select(filter, before);
    const rejectedPage = rejected.slice(0, limit);
    const storedPage = listMatchingPage(this.#records, matches, {
      before, limit, decode: (bytes) => decodeRequest(bytes, this.#find),
    });
    const page: StoredRequest[] = [];
    for (let index = 0; page.length < limit;) {
      const nextStored = storedPage[index];
      const [nextRejected] = rejectedPage;
      const isStoredNext = nextStored !== undefined
        && (nextRejected === undefined || nextStored.id > nextRejected.id);
      const next = isStoredNext ? nextStored : rejectedPage.shift();
      if (next === undefined) break;
      if (isStoredNext) index += 1;
      page.push(next);
    }
    return page;
  }

  /** Selects the requests that match, from behind the id `before`. */
  async select(filter: RequestFilter, before: string | null): Promise<RequestSelection> {
    const rejected = this.#listRejected(filter, before);
    if (filter.status === 'rejected') return { before, rejected, matches: null };
    if (isUnfiltered(filter)) return { before, rejected, matches: () => true };
    await this.#columns.whenBuilt();
    return { before, rejected, matches: this.#columns.createMatcher(filter) };
  }

  /** Counts the requests that match, on all pages. */
  async count(filter: RequestFilter): Promise<number> {
    const rejectedCount = this.#filterRejected(filter).length;
    if (filter.status === 'rejected') return rejectedCount;
    if (isUnfiltered(filter)) return rejectedCount + this.#records.size;
    await this.#columns.whenBuilt();
    return rejectedCount + countMatching(this.#records, this.#columns.createMatcher(filter));
  }

  /** Lists the rejected requests older than the one with the id `before`, newest first. */
  #listRejected(filter: RequestFilter, before: string | null): StoredRequest[] {
    return this.#filterRejected(filter).filter(({ id }) => before === null || id < before)
      .sort((left, right) => left.id < right.id ? 1 : -1);
  }

  #filterRejected(filter: RequestFilter): StoredRequest[] {
    return [...this.#rejected.all()].filter((request) => matchesFilter(filter, request));
  }
}

function isUnfiltered(filter: RequestFilter): boolean {
  return Object.values(filter).every((criterion) => criterion === null);
}

function matchesFilter(filter: RequestFilter, request: StoredRequest): boolean {
  const { hook, status, event, eventId } = filter;
  return (hook === null || hook === request.hook) && (status === null || status === request.status)
    && (event === null || event === request.event)
    && (eventId === null || eventId === request.eventId)
    && isInTime(filter, () => Date.parse(request.receivedAt));
}
