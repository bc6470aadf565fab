/** The HTTP routes that show events: the list, one event, and its payload. */
import { parseTimestamp } from '../../base/clock.ts';
import { encodeJson } from '../../base/json/encode.ts';
import type { Schema } from '../../base/schema.ts';
import { Representation } from '../../resources/representation.ts';
import {
  ANY_JSON, JSON_TYPE, TEXT, arraySchema, jsonResponse, objectSchema, pathParameter, COUNT, TIME,
} from '../../resources/route-specs.ts';
import {
  CONDITIONAL_RESPONSES, ETAG_HEADER, IF_NONE_MATCH, sendUndatedRepresentation,
} from '../../resources/send-representation.ts';
import { problemResponses } from '../../server/problem.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import { OUTGOING_STATUSES } from '../deliveries/delivery.ts';
import { EVENT_SOURCE_NAMES } from '../deliveries/event-record.ts';
import { EVENT_FACT_SOURCES } from '../deliveries/searched-event.ts';
import { attachmentResponse, sendAttachment } from '../members/attachment.ts';
import { searchableListRoute } from '../records/searchable-list.ts';
import type { Searches } from '../records/searches.ts';
import { eventFields, type EventFilter } from './event-fields.ts';
import { eventResource } from './event-resource.ts';
import type { EventService } from './event-service.ts';
import type { PublicEvent } from './public-event.ts';

const { path: PATH, noun: NOUN } = eventResource;
const ITEM_PATH = `${PATH}/{id}`;
const ID = pathParameter('id', 'Of the event');

const members: Readonly<Record<string, Schema>> = {
  id: TEXT, createdAt: TIME, name: TEXT,
  source: {
    kind: 'string', values: EVENT_SOURCE_NAMES,
    description: 'Who made it: a change of the catalog, a caller of the API, a command on the '
      + 'machine of the server, an action, or hookshelf itself (`own`)',
  },
  key: TEXT,
  deliverAt: {
    kind: 'string', format: 'date-time',
    description: 'When its deliveries begin; null: at once',
  },
  hops: COUNT, payloadBytes: COUNT, heard: { kind: 'boolean' },
};
const nullable = ['key', 'deliverAt'];

const keptEventSchema = objectSchema('KeptEvent', members, { nullable });

const eventDeliverySchema = objectSchema('EventDelivery', {
  identifier: TEXT, hook: TEXT,
  hookName: { kind: 'string', description: 'What people call the webhook; null without a name' },
  status: {
    kind: 'string', values: OUTGOING_STATUSES,
    description: 'null: the delivery is not kept any more',
  },
}, { nullable: ['hook', 'hookName', 'status'] });

const eventWithDeliveriesSchema = objectSchema('KeptEventWithDeliveries', {
  ...members, deliveries: arraySchema(eventDeliverySchema),
}, { nullable });

export function eventRoutes(
  service: EventService, searches: Searches,
): readonly HttpRoute[] {
  return [listRoute(service, searches), getRoute(service), payloadRoute(service)];
}

function listRoute(service: EventService, searches: Searches): HttpRoute {
  return searchableListRoute<PublicEvent, EventFilter>({
    operationId: 'listEvents', summary: 'Events that are kept, newest first, whole or page by page',
    description: 'The events', items: keptEventSchema,
  }, {
    path: PATH, fields: eventFields, service, listSources: () => EVENT_FACT_SOURCES,
    idOf: ({ id }) => id, toPublic: (event) => event,
  }, searches);
}

function getRoute(service: EventService): HttpRoute {
  return {
    method: 'GET', path: ITEM_PATH, operationId: 'getEvent', access: 'read',
    summary: 'One event that is kept, with its first 100 deliveries',
    parameters: [ID, IF_NONE_MATCH],
    responses: [
      { ...jsonResponse('The event', eventWithDeliveriesSchema), headers: ETAG_HEADER },
      ...CONDITIONAL_RESPONSES,
    ],
    async handle(exchange) {
      const event = await service.get(exchange.params[0] ?? '');
      // It is undated, as the status of a delivery changes without a write of the event. The time
      // here only makes the tag.
      sendUndatedRepresentation(exchange, NOUN, new Representation(
        event.id, Buffer.from(encodeJson(event)), parseTimestamp(event.createdAt)));
    },
  };
}

function payloadRoute(service: EventService): HttpRoute {
  return {
    method: 'GET', path: `${ITEM_PATH}/payload`, operationId: 'getEventPayload', access: 'read',
    summary: 'The payload of one event that is kept, byte for byte as it was sent',
    parameters: [ID],
    responses: [
      { ...attachmentResponse('The payload'), mediaType: JSON_TYPE, schema: ANY_JSON },
      ...problemResponses(404),
    ],
    handle(exchange) {
      const id = exchange.params[0] ?? '';
      sendAttachment(exchange, id, JSON_TYPE, service.getPayload(id));
    },
  };
}
