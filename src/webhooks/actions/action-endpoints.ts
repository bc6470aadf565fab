/** The HTTP endpoints of action configurations, and of the actions that they can name. */
import { formatTimestampOrNull } from '../../base/clock.ts';
import type { JsonSchema } from '../../base/schema.ts';
import type { AnswerOf, SchemaOf } from '../../base/schema-types.ts';
import { collectionRoute } from '../../resources/collection-route.ts';
import type { Repository } from '../../resources/repository.ts';
import {
  ANY_JSON, FLAG, TEXT, TIME, listResponse, objectSchema, sendList,
} from '../../resources/route-specs.ts';
import { resourceRoutes } from '../../resources/resource-routes.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import type { ActionRegistry } from './action-registry.ts';
import { configurationResource } from './action-configuration.ts';
import { describeOptions, type OptionDoc } from './describe-options.ts';

const OPTIONS: SchemaOf<readonly OptionDoc[], JsonSchema> = ANY_JSON;

export const actionSchema = objectSchema('ActionDescription', {
  identifier: TEXT, label: TEXT, isBuiltIn: FLAG, options: OPTIONS,
  module: [TEXT, 'The file of a custom action; null: it is built in, or the program\'s own'],
  switchedOffUntil: [TIME, 'Until when it is off, as it ended the worker of the modules; null: '
    + 'it is not'],
}, { nullable: ['module', 'switchedOffUntil'] });

export type ActionDescription = AnswerOf<typeof actionSchema>;

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
  return {
    method: 'GET', path: '/api/actions', operationId: 'listActions', access: 'read',
    summary: 'The actions that configurations can name, with their options', tool: {},
    responses: [listResponse('Every action', actionSchema)],
    handle: (exchange) => sendList(exchange,
      actions.list().map(({ identifier, label, isBuiltIn, options, module }) => ({
        identifier, label, isBuiltIn, options: describeOptions(options),
        module: module?.fileName ?? null,
        switchedOffUntil: formatTimestampOrNull(module?.switchedOffUntilMs ?? null),
      }))),
  };
}
