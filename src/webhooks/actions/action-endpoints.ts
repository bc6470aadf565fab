/** The HTTP endpoints of action configurations, and of the actions that they can name. */
import { formatTimestampOrNull } from '../../base/clock.ts';
import type { JsonSchema, JsonValue, MemberSchemas } from '../../base/schema.ts';
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
import { createSchemas, type JsonSchemaObject } from '../../server/documents/openapi-schema.ts';

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

type OptionDoc = {
  readonly name: string;
  readonly description: string;
  readonly isRequired?: boolean;
  readonly default?: JsonValue;
  readonly choices?: readonly string[];
  /** The JSON Schema, as /openapi.json has it. */
  readonly schema: JsonSchemaObject;
};

function describeOptions(members: MemberSchemas): readonly OptionDoc[] {
  const { properties } = createSchemas().convert({ kind: 'object', members }, 'body') as {
    readonly properties: Readonly<Record<string, JsonSchemaObject>>;
  };
  return Object.entries(members).map(([name, member]) => {
    const { description = '', isRequired, default: defaultValue, schema } = member;
    const choices = schema.kind === 'string' ? schema.values : undefined;
    return {
      name, description,
      ...isRequired === true ? { isRequired } : {},
      ...defaultValue === undefined ? {} : { default: defaultValue },
      ...choices === undefined ? {} : { choices },
      schema: properties[name] ?? {},
    };
  });
}
