/** Lists stored and rejected requests, newest first. Rejected requests are in memory. */
import { findCommitted } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import { createFieldTest } from '../records/fields.ts';
import { NO_MATCHES, RecordList } from '../records/record-list.ts';
import type { SearchWalk } from '../records/searches.ts';
import type { RejectedRing } from './rejected-requests.ts';
import { decodeRequest, decodeRequestHead, requestCollection } from './request-codec.ts';
import { requestFields, type ListedRequest, type RequestFilter } from './request-fields.ts';
import { createRequestWalk, type CreateRequestFacts } from './request-search.ts';
import type { RequestStates } from './request-states.ts';
import type { StoredRequest } from '../incoming/stored-request.ts';

export class RequestList {
  readonly #store: Store;
  readonly #find: FindRecord;
  readonly #rejected: Pick<RejectedRing, 'all' | 'find'>;
  readonly #createFacts: CreateRequestFacts;
  readonly #stored: RecordList<ListedRequest, RequestFilter>;

  constructor(
    store: Store, states: RequestStates, rejected: Pick<RejectedRing, 'all' | 'find'>,
    createFacts: CreateRequestFacts,
  ) {
    this.#store = store;
    this.#find = findCommitted(store);
    this.#rejected = rejected;
    this.#createFacts = createFacts;
    this.#stored = new RecordList<ListedRequest, RequestFilter>(store, requestCollection.name, {
      fields: requestFields, decode: decodeRequestHead,
      slotTests: { status: (status) => (slot) => states.statusAt(slot) === status },
    });
  }

  /** Lists up to `limit` requests that are older than the request `before`, newest first. */
  async list(
    filter: RequestFilter, before: string | null, limit: number,
  ): Promise<StoredRequest[]> {
    const rejectedRequests = this.#listRejected(filter, before).slice(0, limit);
    const storedRequests = filter.status === 'rejected' ? [] : await this.#stored.page(filter, {
      after: before, limit, isNewestFirst: true,
      decode: (bytes) => decodeRequest(bytes, this.#find),
    });
    return sortNewestFirst([...storedRequests, ...rejectedRequests]).slice(0, limit);
  }

  async openSearch(
    filter: RequestFilter, before: string | null,
  ): Promise<SearchWalk<StoredRequest>> {
    const rejected = this.#listRejected(filter, before);
    const stored = filter.status === 'rejected' ? NO_MATCHES
      : await this.#stored.select(filter, before, true);
    return createRequestWalk(this.#store, this.#createFacts, this.#rejected, { stored, rejected });
  }

  async count(filter: RequestFilter): Promise<number> {
    const rejectedCount = this.#filterRejected(filter).length;
    return filter.status === 'rejected' ? rejectedCount
      : rejectedCount + await this.#stored.count(filter);
  }

  #listRejected(filter: RequestFilter, before: string | null): StoredRequest[] {
    return sortNewestFirst(
      this.#filterRejected(filter).filter(({ id }) => before === null || id < before));
  }

  #filterRejected(filter: RequestFilter): StoredRequest[] {
    return [...this.#rejected.all()].filter(createFieldTest(requestFields, filter));
  }
}

function sortNewestFirst(requests: StoredRequest[]): StoredRequest[] {
  return requests.sort((left, right) => left.id < right.id ? 1 : -1);
}
