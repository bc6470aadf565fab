/** The HTTP routes that show events: the list, one event, and its payload. */
import { parseTimestamp } from '../../base/clock.ts';
import { encodeJson } from '../../base/json/encode.ts';
import { Representation } from '../../resources/representation.ts';
import { ANY_JSON, JSON_TYPE, jsonResponse, pathParameter } from '../../resources/route-specs.ts';
import {
  CONDITIONAL_RESPONSES, ETAG_HEADER, IF_NONE_MATCH, sendUndatedRepresentation,
} from '../../resources/send-representation.ts';
import { problemResponses } from '../../server/problem.ts';
import { bindRoutes, type HttpRoute, type RouteRow } from '../../server/http-route.ts';
import { EVENT_FACT_SOURCES } from '../deliveries/delivery-search.ts';
import { resolveHook, type WebhookDirectory } from '../members/directory.ts';
import type { FindVisibility } from '../members/visibility.ts';
import { attachmentResponse, sendAttachment } from '../members/attachment.ts';
import { searchableListRoute } from '../records/searchable-list.ts';
import type { Searches } from '../records/searches.ts';
import { eventFields, restrictEvents, type EventFilter } from './event-fields.ts';
import { eventResource } from './event-resource.ts';
import type { EventService } from './event-service.ts';
import { eventWithDeliveriesSchema, keptEventSchema, type PublicEvent } from './public-event.ts';

const { path: PATH, noun: NOUN } = eventResource;
const ITEM_PATH = `${PATH}/{id}`;
const ID = pathParameter('id', 'Of the event');

export function eventRoutes(
  service: EventService, findVisibility: FindVisibility, webhooks: WebhookDirectory,
  searches: Searches,
): readonly HttpRoute[] {
  return [
    listRoute(service, findVisibility, webhooks, searches),
    ...bindRoutes(ROWS, { service, findVisibility }),
  ];
}

type EventRowServices = { readonly service: EventService; readonly findVisibility: FindVisibility };

const ROWS: readonly RouteRow<EventRowServices>[] = [
  {
    method: 'GET', path: ITEM_PATH, operationId: 'getEvent', access: 'read',
    bound: { scope: 'read', subject: 'event' },
    summary: 'One event that is kept, with its first 100 deliveries',
    parameters: [ID, IF_NONE_MATCH],
    responses: [
      { ...jsonResponse('The event', eventWithDeliveriesSchema), headers: ETAG_HEADER },
      ...CONDITIONAL_RESPONSES,
    ],
    async handle(exchange, { service, findVisibility }) {
      const event = await service.get(exchange.params[0] ?? '', findVisibility(exchange));
      // Undated, as the status of a delivery changes without the event. The time only makes the
      // tag.
      sendUndatedRepresentation(exchange, NOUN, new Representation(
        event.id, Buffer.from(encodeJson(event)), parseTimestamp(event.createdAt)));
    },
  },
  {
    method: 'GET', path: `${ITEM_PATH}/payload`, operationId: 'getEventPayload', access: 'read',
    bound: { scope: 'read', subject: 'event' },
    summary: 'The payload of one event that is kept, byte for byte as it was sent',
    parameters: [ID],
    responses: [
      { ...attachmentResponse('The payload'), mediaType: JSON_TYPE, schema: ANY_JSON },
      ...problemResponses(404),
    ],
    handle(exchange, { service, findVisibility }) {
      const id = exchange.params[0] ?? '';
      sendAttachment(exchange, id, JSON_TYPE, service.getPayload(id, findVisibility(exchange)));
    },
  },
];

function listRoute(
  service: EventService, findVisibility: FindVisibility, webhooks: WebhookDirectory,
  searches: Searches,
): HttpRoute {
  const resolve = (filter: EventFilter): EventFilter =>
    typeof filter.hook === 'string' ? { ...filter, hook: resolveHook(webhooks, filter.hook) }
      : filter;
  return searchableListRoute<PublicEvent, EventFilter>({
    operationId: 'listEvents', summary: 'Events that are kept, newest first, whole or page by page',
    description: 'The events', items: keptEventSchema, bound: { scope: 'read' },
  }, {
    path: PATH, fields: eventFields, service, listSources: () => EVENT_FACT_SOURCES,
    resolve,
    findView(exchange, isSearch) {
      const visibility = findVisibility(exchange);
      return visibility && {
        resolve: (filter) => restrictEvents(resolve(filter), visibility, isSearch),
        toPublic: (event) => service.show(event, visibility),
      };
    },
    idOf: ({ id }) => id, toPublic: (event) => event,
  }, searches);
}
