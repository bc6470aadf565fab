/** Lists stored and rejected requests, newest first. Rejected requests are in memory. */
import { findCommitted } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import { createFieldTest } from '../records/fields.ts';
import { NO_MATCHES, RecordList, type RecordMatches } from '../records/record-list.ts';
import type { RejectedRing } from './rejected-requests.ts';
import { decodeRequest, decodeRequestHead, requestCollection } from './request-codec.ts';
import { requestFields, type ListedRequest, type RequestFilter } from './request-fields.ts';
import type { RequestStates } from './request-states.ts';
import type { StoredRequest } from '../incoming/stored-request.ts';

/** The requests of a list or a search: stored requests whose slots match, and rejected requests. */
export type RequestSelection = {
  readonly stored: RecordMatches;
  /** Newest first. */
  readonly rejected: readonly StoredRequest[];
};

export class RequestList {
  readonly #find: FindRecord;
  readonly #rejected: Pick<RejectedRing, 'all'>;
  readonly #stored: RecordList<ListedRequest, RequestFilter>;

  constructor(
    store: Pick<Store, 'collection'>, states: RequestStates,
    rejected: Pick<RejectedRing, 'all'>,
  ) {
    this.#find = findCommitted(store);
    this.#rejected = rejected;
    this.#stored = new RecordList<ListedRequest, RequestFilter>(store, requestCollection.name, {
      fields: requestFields, decode: decodeRequestHead,
      slotTests: { status: (status) => (slot) => states.statusAt(slot) === status },
    });
  }

  /** Lists up to `limit` requests that are older than the request `before`, newest first. */
  async listPage(
    filter: RequestFilter, before: string | null, limit: number,
  ): Promise<StoredRequest[]> {
    const rejectedRequests = this.#listRejected(filter, before).slice(0, limit);
    const storedRequests = filter.status === 'rejected' ? [] : await this.#stored.page(filter, {
      after: before, limit, isNewestFirst: true,
      decode: (bytes) => decodeRequest(bytes, this.#find),
    });
    return sortNewestFirst([...storedRequests, ...rejectedRequests]).slice(0, limit);
  }

  async select(filter: RequestFilter, before: string | null): Promise<RequestSelection> {
    return {
      rejected: this.#listRejected(filter, before),
      stored: filter.status === 'rejected' ? NO_MATCHES
        : await this.#stored.select(filter, before, true),
    };
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
