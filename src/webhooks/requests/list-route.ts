/** `GET /api/requests`. */
import { listed } from '../../resources/route-parts.ts';
import { problemAnswers } from '../../server/problem.ts';
import type { Route } from '../../server/route.ts';
import { EVENT_ID_PARAMETER, sendWorkList, workListParameters } from '../work/list-route.ts';
import { REQUEST_STATUSES, shownRequest } from './request.ts';
import { requestResource } from './resource.ts';
import { requestSchema } from './schema.ts';
import type { RequestService } from './service.ts';

export function requestListRoute(
  service: RequestService, hookOf: (name: string) => string,
): Route {
  const { path } = requestResource;
  return {
    method: 'GET', path, operationId: 'listRequests', access: 'read',
    summary: 'Requests that were kept, newest first, whole or page by page',
    parameters: [EVENT_ID_PARAMETER, ...workListParameters(REQUEST_STATUSES, {
      hook: 'Of this incoming webhook only: its identifier or path segment',
      event: 'Only those that the sender names so, such as `push`',
      time: 'Received',
    })],
    answers: [
      listed('The requests', requestSchema, 'How many match, on all pages'),
      ...problemAnswers(400),
    ],
    handle: (exchange) => sendWorkList(exchange, {
      path, statuses: REQUEST_STATUSES, hasEventIds: true, hookOf, idOf: ({ id }) => id,
      shown: shownRequest,
      list: (filter, from, limit) => service.list(filter, from, limit),
      count: (filter) => service.count(filter),
    }),
  };
}
