/**
 * How a search walks through requests. It sees the id of a request, its event and the id of that,
 * its path, the values of its headers, and its body. It sees nothing that is shown as `***`.
 */
import { MASK, decodePercent } from '../../base/log.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { FindRecord, Store } from '../../store/store-port.ts';
import type { Facts } from '../filters/facts.ts';
import { RecordWalk } from '../search/record-walk.ts';
import type { SearchedRecord } from '../search/search-query.ts';
import type { SearchPosition, SearchWalk } from '../search/searches.ts';
import { getRequestBody } from './request-body.ts';
import {
  decodeRequestHead, decodeRequest, hasBodyRecord, readRequestId,
} from './request-codec.ts';
import type { RejectedRequests, RequestSelection } from './request-list.ts';
import {
  requestBodyCollection, requestCollection, type StoredRequestHead, type StoredRequest,
} from './stored-request.ts';

type RequestSearchDeps = {
  readonly store: Pick<Store, 'collection'>;
  /** The facts of a request as its webhook would have them, without what is shown as `***`. */
  readonly createFacts: (request: StoredRequestHead, body: Buffer) => Facts;
};

type RequestWalkDeps = RequestSearchDeps & { readonly rejected: Pick<RejectedRequests, 'find'> };

/** A walk through stored requests, and among them those that were rejected. */
export class RequestSearchWalk implements SearchWalk<StoredRequest> {
  readonly #deps: RequestWalkDeps;
  readonly #stored: RecordWalk<StoredRequest>;
  readonly #rejected: StoredRequest[];
  /** The stored one that comes next, if a rejected one came before it; else undefined. */
  #nextStored: SearchedRecord<StoredRequest> | 'filtered' | null | undefined;
  /** The last request, if that was rejected. */
  #lastRejected: StoredRequest | null = null;

  constructor(deps: RequestWalkDeps, { before, matches, rejected }: RequestSelection) {
    this.#deps = deps;
    this.#stored = new RecordWalk(deps.store.collection(requestCollection.name), {
      before, matches, readAt: (bytes) => decodeRequestHead(bytes).receivedAt,
      open: (bytes) => new StoredSearchedRequest(deps, bytes),
    });
    this.#rejected = [...rejected];
  }

  next(): SearchedRecord<StoredRequest> | 'filtered' | null {
    const isHeld = this.#nextStored !== undefined;
    const stored = this.#nextStored === undefined ? this.#stored.next() : this.#nextStored;
    const [rejected] = this.#rejected;
    if (rejected !== undefined && (stored === null || this.#stored.position().id < rejected.id)) {
      this.#nextStored = stored;
      this.#rejected.shift();
      this.#lastRejected = rejected;
      return new RejectedSearchedRequest(this.#deps, rejected);
    }
    this.#nextStored = undefined;
    this.#lastRejected = null;
    // While it waited, it may have gone, or changed.
    return isHeld && stored !== null && !this.#stored.isStillListed() ? 'filtered' : stored;
  }

  position(): SearchPosition {
    if (this.#lastRejected === null) return this.#stored.position();
    return { id: this.#lastRejected.id, at: this.#lastRejected.receivedAt };
  }

  isStillListed(): boolean {
    // A rejected request does not change, but goes when there is no room for it any more.
    return this.#lastRejected === null ? this.#stored.isStillListed()
      : this.#deps.rejected.find(this.#lastRejected.id) !== undefined;
  }
}

/** Finds what a search sees of a stored request; null: it is gone. */
export function findSearchedRequest(
  deps: RequestSearchDeps, id: string,
): SearchedRecord<StoredRequest> | null {
  const bytes = deps.store.collection(requestCollection.name).findBytes(id);
  return bytes === undefined ? null : new StoredSearchedRequest(deps, bytes);
}

class StoredSearchedRequest implements SearchedRecord<StoredRequest> {
  readonly encodedParts: readonly Buffer[];
  readonly #deps: RequestSearchDeps;
  readonly #find: FindRecord;
  readonly #bytes: Buffer;
  #head: StoredRequestHead | null = null;

  constructor(deps: RequestSearchDeps, bytes: Buffer) {
    this.#deps = deps;
    this.#bytes = bytes;
    this.#find = findCommitted(deps.store);
    const bodyRecord = hasBodyRecord(bytes) ? this.#findBodyRecord() : undefined;
    this.encodedParts = bodyRecord === undefined ? [bytes] : [bytes, bodyRecord];
  }

  listIds(): readonly string[] {
    return [this.#readHead().id];
  }

  listTexts(): Iterable<string> {
    return listHeadTexts(this.#readHead());
  }

  readPayload(): Buffer | null {
    const isGone = hasBodyRecord(this.#bytes) && this.#findBodyRecord() === undefined;
    return isGone ? null : getRequestBody(this.#readHead(), () => this.#findBodyRecord());
  }

  createFacts(): Facts {
    return createShownFacts(this.#deps, this.#readHead(), this.readPayload());
  }

  decode(): StoredRequest {
    return decodeRequest(this.#bytes, this.#find);
  }

  #readHead(): StoredRequestHead {
    this.#head ??= decodeRequestHead(this.#bytes);
    return this.#head;
  }

  #findBodyRecord(): Buffer | undefined {
    return this.#find(requestBodyCollection.name, readRequestId(this.#bytes));
  }
}

class RejectedSearchedRequest implements SearchedRecord<StoredRequest> {
  readonly encodedParts = null;
  readonly #deps: RequestWalkDeps;
  readonly #request: StoredRequest;

  constructor(deps: RequestWalkDeps, request: StoredRequest) {
    this.#deps = deps;
    this.#request = request;
  }

  listIds(): readonly string[] {
    return [this.#request.id];
  }

  listTexts(): Iterable<string> {
    return listHeadTexts(this.#request);
  }

  readPayload(): Buffer | null {
    return this.#deps.rejected.find(this.#request.id)?.body ?? null;
  }

  createFacts(): Facts {
    return createShownFacts(this.#deps, this.#request, this.readPayload());
  }

  decode(): StoredRequest {
    return this.#request;
  }
}

/** Creates the facts of a request without what is shown as `***`. */
function createShownFacts(
  { createFacts }: RequestSearchDeps, request: StoredRequestHead, body: Buffer | null,
): Facts {
  return createFacts(hideMasked(request), body ?? Buffer.alloc(0));
}

function* listHeadTexts(request: StoredRequestHead): Generator<string, void, void> {
  const { event, eventId, path, headers } = hideMasked(request);
  if (event !== null) yield event;
  if (eventId !== null) yield eventId;
  yield path;
  for (const [, value] of headers) yield value;
}

/** The request without the headers and parameters of its query that are shown as `***`. */
function hideMasked(request: StoredRequestHead): StoredRequestHead {
  const { headers, query, signatures } = request;
  const isHidden = (name: string, value: string): boolean =>
    value === MASK || signatures.includes(name.toLowerCase());
  return {
    ...request,
    headers: headers.filter(([name, value]) => !isHidden(name, value)),
    query: query.split('&').filter((parameter) => {
      const [name = '', value = ''] = parameter.split('=', 2);
      return !isHidden(decodePercent(name), value);
    }).join('&'),
  };
}
