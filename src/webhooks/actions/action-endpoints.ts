/** The HTTP endpoints of action configurations, and of the actions that they can name. */
import { formatTimestampOrNull } from '../../base/clock.ts';
import { collectionRoute } from '../../resources/collection-route.ts';
import type { Repository } from '../../resources/repository.ts';
import {
  ANY_JSON, TEXT, listResponse, objectSchema, sendList,
} from '../../resources/route-specs.ts';
import { resourceRoutes } from '../../resources/resource-routes.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import type { ActionRegistry } from './action-registry.ts';
import { configurationResource } from './action-configuration.ts';

export function createActionEndpoints(
  actions: ActionRegistry, records: Repository,
): readonly HttpRoute[] {
  return [
    createActionListEndpoint(actions),
    collectionRoute(configurationResource, records),
    ...resourceRoutes(configurationResource, records),
  ];
}

function createActionListEndpoint(actions: ActionRegistry): HttpRoute {
  const item = objectSchema('ActionDescription', {
    identifier: TEXT, label: TEXT, isBuiltIn: { kind: 'boolean' },
    options: ANY_JSON, module: TEXT, switchedOffUntil: TEXT,
  }, { nullable: ['module', 'switchedOffUntil'] });
  return {
    method: 'GET', path: '/api/actions', operationId: 'listActions', access: 'read',
    summary: 'The actions that configurations can name, with their options',
    responses: [listResponse('Every action', item)],
    handle: (exchange) => sendList(exchange,
      actions.list().map(({ identifier, label, isBuiltIn, options, module }) => ({
        identifier, label, isBuiltIn, options, module: module?.fileName ?? null,
        switchedOffUntil: formatTimestampOrNull(module?.switchedOffUntilMs ?? null),
      }))),
  };
}
