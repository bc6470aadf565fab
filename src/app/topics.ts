/** What the event stream tells of: the rooms do not know it, nor does it know them. */
import { bookResource } from '../books/book-resource.ts';
import { isFirstVersion } from '../resources/record.ts';
import type { Topic } from '../stream/topic.ts';
import { decodeDelivery } from '../webhooks/deliveries/codec.ts';
import { deliveryCollection } from '../webhooks/deliveries/delivery.ts';
import type { DeliveryService } from '../webhooks/deliveries/service.ts';
import { decodeRequest } from '../webhooks/requests/codec.ts';
import {
  requestCollection, shownRequest, type KeptRequest,
} from '../webhooks/requests/request.ts';

export const requestTopic: Topic = {
  name: 'requests', event: 'request', collection: requestCollection, hasHooks: true,
  describe: (record) => describeRequest(decodeRequest(record)),
};

function createDeliveryTopic({ toPublic }: Pick<DeliveryService, 'toPublic'>): Topic {
  return {
    name: 'deliveries', event: 'delivery', collection: deliveryCollection, hasHooks: true,
    describe(record) {
      const delivery = decodeDelivery(record);
      const { hook, createdAt, updatedAt } = delivery;
      return { json: JSON.stringify(toPublic(delivery)), hook, isNew: updatedAt === createdAt };
    },
  };
}

const bookTopic: Topic = {
  name: 'books', event: 'book', collection: bookResource.collection, hasHooks: false,
  describe: (record) =>
    ({ json: record.toString(), hook: null, isNew: isFirstVersion(record) }),
};

export function describeRequest(request: KeptRequest): ReturnType<Topic['describe']> {
  const { hook, receivedAt, updatedAt } = request;
  return { json: JSON.stringify(shownRequest(request)), hook, isNew: updatedAt === receivedAt };
}

export function createTopics(deliveries: Pick<DeliveryService, 'toPublic'>): readonly Topic[] {
  return [requestTopic, createDeliveryTopic(deliveries), bookTopic];
}
