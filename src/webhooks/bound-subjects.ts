/**
 * Answers a caller whose token is bound to webhooks that what he does not see does not exist. It
 * stands before the handlers of all routes whose path names a webhook, a delivery, an event or a
 * job: of a foreign one, and of one that there is not, nothing else of the request is looked at.
 */
import type { AppError } from '../base/errors.ts';
import { boundTokenError } from '../server/problem.ts';
import { notFoundError } from '../resources/not-found.ts';
import type { BoundSubject, Exchange, HttpRoute } from '../server/http-route.ts';
import { findCommitted, resolveKey } from '../store/find-record.ts';
import type { FindRecord, Store } from '../store/store-port.ts';
import { decodeJob, jobCollection } from './bulk/job.ts';
import { readWebhookId } from './deliveries/delivery-codec.ts';
import { deliveryCollection } from './deliveries/delivery.ts';
import { eventCollection, isEvent, readReceiverIds } from './deliveries/event-record.ts';
import type { FindVisibility, Visibility } from './members/visibility.ts';
import { outgoingCollection } from './outgoing/outgoing-webhook.ts';

type Subject = {
  readonly collection: string;
  readonly createError: (name: string) => AppError;
  /** Whether the record with that identifier is seen. `find` finds what stands beside it. */
  readonly isSeen: (
    visibility: Visibility, identifier: string, record: Buffer, find: FindRecord,
  ) => boolean;
};

const SUBJECTS: Readonly<Record<BoundSubject, Subject>> = {
  webhook: {
    collection: outgoingCollection.name,
    createError: (name) => notFoundError('outgoing webhook', name),
    isSeen: (visibility, identifier) => visibility.seesWebhook(identifier),
  },
  delivery: {
    collection: deliveryCollection.name,
    createError: (identifier) => notFoundError('delivery', identifier),
    // Not decoded: an answer must not take the longer the more there is of a foreign delivery.
    isSeen(visibility, _, record) {
      const webhookId = readWebhookId(record);
      return webhookId !== null && visibility.seesWebhook(webhookId);
    },
  },
  event: {
    collection: eventCollection.name,
    createError: (id) => notFoundError('event', id),
    isSeen: (visibility, id, record, find) =>
      isEvent(record) && visibility.seesEvent(readReceiverIds(find, id, record)),
  },
  job: {
    collection: jobCollection.name,
    createError: (id) => notFoundError('job', id),
    isSeen: (visibility, _, record) => visibility.seesJob(decodeJob(record)),
  },
};

/**
 * Finds which records of a collection the caller sees; null: all of them. Throws `forbidden` for a
 * collection that is nothing for his token.
 */
export type FindSeenRecords = (
  exchange: Pick<Exchange, 'grant'>, collection: string,
) => ((record: Buffer, identifier: string) => boolean) | null;

export function createSeenRecordsFinder(
  store: Store, findVisibility: FindVisibility,
): FindSeenRecords {
  return (exchange, collection) => {
    const visibility = findVisibility(exchange);
    if (visibility === null) return null;
    const subject = Object.values(SUBJECTS).find((each) => each.collection === collection);
    if (subject === undefined) throw boundTokenError();
    return (record, identifier) =>
      subject.isSeen(visibility, identifier, record, findCommitted(store));
  };
}

/** Makes the routes with that check before their handlers. */
export function checkBoundSubjects(
  routes: readonly HttpRoute[], store: Store, findVisibility: FindVisibility,
): readonly HttpRoute[] {
  return routes.map((route) => {
    const { subject: subjectName } = route.bound ?? {};
    if (subjectName === undefined) return route;
    const subject = SUBJECTS[subjectName];
    return {
      ...route,
      handle(exchange) {
        const visibility = findVisibility(exchange);
        if (visibility === null) return route.handle(exchange);
        const name = exchange.params[0] ?? '';
        // A body may come long after the head: the record may be out of sight by then.
        exchange.onJsonBody = () => {
          if (!isSeen(store, subject, visibility, name)) throw subject.createError(name);
        };
        return assertSeen(store, subject, visibility, name).then(() => route.handle(exchange));
      },
    };
  });
}

/**
 * Throws `not_found`. Before that, this node applies all that is committed: another one may just
 * have added the record.
 */
async function assertSeen(
  store: Store, subject: Subject, visibility: Visibility, name: string,
): Promise<void> {
  if (isSeen(store, subject, visibility, name)) return;
  // A transaction that stages nothing ends when what it has read is no older than the call.
  await store.transact((transaction) => transaction.find(subject.collection, name));
  if (!isSeen(store, subject, visibility, name)) throw subject.createError(name);
}

function isSeen(
  store: Store, subject: Subject, visibility: Visibility, name: string,
): boolean {
  const collection = store.collection(subject.collection);
  const identifier = resolveKey(collection, name) ?? name;
  const record = collection.findBytes(identifier);
  return record !== undefined
    && subject.isSeen(visibility, identifier, record, findCommitted(store));
}
