/**
 * How a search walks through requests. It sees the id of a request, its event and the id of that,
 * its path, the values of its headers, and its body. It sees nothing that is shown as `***`.
 */
import { MASK, decodePercent } from '../../base/log.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Store } from '../../store/store-port.ts';
import type { Facts } from '../members/filters/facts.ts';
import type { RecordMatches } from '../records/record-list.ts';
import { createRecordWalk } from '../records/record-walk.ts';
import type { SearchedContent, SearchedRecord } from '../records/search-query.ts';
import type { SearchWalk } from '../records/searches.ts';
import { getRequestBody } from './request-body.ts';
import type { RejectedRing } from './rejected-requests.ts';
import {
  decodeRequestHead, decodeRequest, hasBodyRecord, requestCollection,
} from './request-codec.ts';
import {
  requestBodyCollection, type StoredRequestHead, type StoredRequest,
} from '../incoming/stored-request.ts';

/** Creates the facts that the webhook of a request would read. */
export type CreateRequestFacts = (request: StoredRequestHead, body: Buffer) => Facts;

/**
 * Walks through stored and rejected requests, newest first: stored ones whose slots match, and
 * `rejected` ones, which are in that order. `ring` has the rejected requests that are still there.
 */
export function createRequestWalk(
  store: Store, createFacts: CreateRequestFacts, ring: Pick<RejectedRing, 'find'>,
  selection: { readonly stored: RecordMatches; readonly rejected: readonly StoredRequest[] },
): SearchWalk<StoredRequest> {
  const stored = createRecordWalk(store.collection(requestCollection.name), {
    ...selection.stored, readAt: (bytes) => decodeRequestHead(bytes).receivedAt,
    open: (bytes, id) => openStored(store, createFacts, bytes, id),
  });
  const rejected = [...selection.rejected];
  /** The stored request that comes next, if a rejected request came before it; else undefined. */
  let nextStored: ReturnType<typeof stored.next> | undefined;
  /** The last request, if that was rejected. */
  let lastRejected: StoredRequest | null = null;
  return {
    next() {
      const isHeld = nextStored !== undefined;
      const record = nextStored === undefined ? stored.next() : nextStored;
      const [nextRejected] = rejected;
      if (nextRejected !== undefined
        && (record === null || stored.position().id < nextRejected.id)) {
        nextStored = record;
        rejected.shift();
        lastRejected = nextRejected;
        return openRejected(createFacts, ring, nextRejected);
      }
      nextStored = undefined;
      lastRejected = null;
      // While the record waited, it may have gone, or changed.
      return isHeld && record !== null && !stored.isStillListed() ? 'filtered' : record;
    },
    position: () => lastRejected === null ? stored.position()
      : { id: lastRejected.id, at: lastRejected.receivedAt },
    // A rejected request does not change, but goes when there is no room for it any more.
    isStillListed: () => lastRejected === null ? stored.isStillListed()
      : ring.find(lastRejected.id) !== undefined,
  };
}

/** Finds what a search sees of a stored request; null: it is gone. */
export function findSearchedRequest(
  store: Store, createFacts: CreateRequestFacts, id: string,
): SearchedRecord<StoredRequest> | null {
  const bytes = store.collection(requestCollection.name).findBytes(id);
  return bytes === undefined ? null : openStored(store, createFacts, bytes, id);
}

function openStored(
  store: Store, createFacts: CreateRequestFacts, bytes: Buffer, id: string,
): SearchedRecord<StoredRequest> {
  const isApart = hasBodyRecord(bytes);
  const bodyRecord = isApart ? store.collection(requestBodyCollection.name).findBytes(id)
    : undefined;
  return {
    encodedParts: bodyRecord === undefined ? [bytes] : [bytes, bodyRecord],
    read() {
      const head = decodeRequestHead(bytes);
      return readVisible(createFacts, head, () =>
        isApart && bodyRecord === undefined ? null : getRequestBody(head, () => bodyRecord));
    },
    decode: () => decodeRequest(bytes, findCommitted(store)),
  };
}

function openRejected(
  createFacts: CreateRequestFacts, ring: Pick<RejectedRing, 'find'>, request: StoredRequest,
): SearchedRecord<StoredRequest> {
  return {
    encodedParts: null,
    read: () => readVisible(createFacts, request, () => ring.find(request.id)?.body ?? null),
    decode: () => request,
  };
}

/** Leaves out what is shown as `***`. */
function readVisible(
  createFacts: CreateRequestFacts, head: StoredRequestHead,
  readPayload: SearchedContent['readPayload'],
): SearchedContent {
  const visibleHead = hideMasked(head);
  return {
    ids: [head.id], texts: listHeadTexts(visibleHead), readPayload,
    createFacts: () => createFacts(visibleHead, readPayload() ?? Buffer.alloc(0)),
  };
}

function* listHeadTexts(
  { event, eventId, path, headers }: StoredRequestHead,
): Generator<string, void, void> {
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
