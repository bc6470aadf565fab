/**
 * The topics of the event stream: requests, deliveries, books and events. The rooms that have these
 * records do not know the stream, nor does it know them.
 */
import { encodeJson } from '../base/json/encode.ts';
import { bookResource } from '../books/book-resource.ts';
import { isFirstVersion } from '../resources/record.ts';
import type { FindRecord } from '../store/store-port.ts';
import { formatEvent, type StreamView } from '../stream/stream-event.ts';
import type { StreamTopic } from '../stream/stream-topic.ts';
import { decodeDelivery } from '../webhooks/deliveries/delivery-codec.ts';
import { deliveryCollection } from '../webhooks/deliveries/delivery.ts';
import type { DeliveryService } from '../webhooks/deliveries/delivery-service.ts';
import { isRouteDeliveryId, parseRequestId } from '../webhooks/deliveries/route-delivery-id.ts';
import {
  decodeEventHead, eventCollection, isEvent, readReceiverIds,
} from '../webhooks/deliveries/event-record.ts';
import { hidePayloadMembers, toPublicEvent } from '../webhooks/events/public-event.ts';
import { decodeRequest, requestCollection } from '../webhooks/inbox/request-codec.ts';
import type { StoredRequest } from '../webhooks/incoming/stored-request.ts';
import type { RequestService } from '../webhooks/inbox/request-service.ts';
import type { Visibility } from '../webhooks/members/visibility.ts';

const DELIVERIES = 'deliveries';
const EVENTS = 'events';

/** `describeRequest` is for a request that is announced but not stored: one that was rejected. */
type Topics = {
  readonly all: readonly StreamTopic[];
  readonly requests: StreamTopic;
  describeRequest(request: StoredRequest): ReturnType<StreamTopic['describe']>;
};

export function createTopics({ requests, deliveries }: TopicDeps): Topics {
  const describeRequest: Topics['describeRequest'] = (request) => {
    const { hook, receivedAt, updatedAt } = request;
    const json = encodeJson(requests.toPublic(request));
    return { json, webhookId: hook, isNew: updatedAt === receivedAt };
  };
  const requestTopic: StreamTopic = {
    name: 'requests', event: 'request', collection: requestCollection, hasWebhooks: true,
    describe: (record, find) => describeRequest(decodeRequest(record, find)),
  };
  return {
    all: [requestTopic, createDeliveryTopic(deliveries, requestTopic), bookTopic, eventTopic],
    requests: requestTopic, describeRequest,
  };
}

/** Creates the view of a reader of the stream whose token is bound to webhooks. */
export function createStreamView(visibility: Visibility, find: FindRecord): StreamView {
  return {
    key: visibility.binding.tokenId, topics: [DELIVERIES, EVENTS], defaultTopics: [DELIVERIES],
    show({ topic, webhookId, record, text }) {
      if (topic.name === EVENTS) return record && showEvent(visibility, record, find, text);
      const isSeen = topic.name === DELIVERIES && typeof webhookId === 'string'
        && visibility.seesWebhook(webhookId);
      return isSeen ? text : null;
    },
  };
}

/** An event is seen by the deliveries that it has by now. */
function showEvent(
  visibility: Visibility, record: Buffer, find: FindRecord, text: string,
): string | null {
  const { identifier } = decodeEventHead(record);
  const webhookIds = readReceiverIds(find, identifier, record);
  if (!visibility.seesEvent(webhookIds)) return null;
  if (visibility.seesPayload(webhookIds)) return text;
  const event = hidePayloadMembers(toPublicEvent(record, find));
  return formatEvent(eventTopic, 'created', encodeJson(event));
}

type TopicDeps = {
  readonly requests: Pick<RequestService, 'toPublic'>;
  readonly deliveries: Pick<DeliveryService, 'toPublic'>;
};

/** The delivery of a request to one of its routes is a part of the request. */
function createDeliveryTopic(
  deliveries: TopicDeps['deliveries'], requestTopic: StreamTopic,
): StreamTopic {
  return {
    name: DELIVERIES, event: 'delivery', collection: deliveryCollection, hasWebhooks: true,
    findOwner: (id) =>
      isRouteDeliveryId(id) ? { topic: requestTopic, id: parseRequestId(id) } : null,
    describe(record) {
      const delivery = decodeDelivery(record);
      const { hook, createdAt, updatedAt } = delivery;
      const isNew = updatedAt === createdAt;
      return { json: encodeJson(deliveries.toPublic(delivery)), webhookId: hook, isNew };
    },
  };
}

/** An event is told when it is created: it never changes, and its removal for age is not told. */
const eventTopic: StreamTopic = {
  name: EVENTS, event: 'event', collection: eventCollection, hasWebhooks: false,
  isOptional: true,
  isTold: ({ before, after }) => !before && after !== null && isEvent(after),
  describe: (record, find) =>
    ({ json: encodeJson(toPublicEvent(record, find)), webhookId: null, isNew: true }),
};

const bookTopic: StreamTopic = {
  name: 'books', event: 'book', collection: bookResource.collection, hasWebhooks: false,
  describe: (record) =>
    ({ json: record.toString(), webhookId: null, isNew: isFirstVersion(record) }),
};
