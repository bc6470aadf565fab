/** The member `routes` of an incoming webhook: which action configurations run for a request. */
import type { FieldError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue, MemberSchema, StringSchema } from '../../base/schema.ts';
import {
  conditionSchema, findConditionProblems, type Condition,
} from '../filters/condition.ts';
import type { Search } from '../filters/facts.ts';
import { prepareCondition, type Predicate } from '../filters/prepare-condition.ts';

export type WebhookRoute = {
  readonly name: string;
  /** Absent: the route runs for every request. */
  readonly when?: Condition;
  readonly actionConfiguration: string;
};

/** A route compiled once for each change of the webhook. */
export type ReadyWebhookRoute = {
  readonly name: string;
  /** null: the route runs for every request. */
  readonly matches: Predicate | null;
  /** The searches of its condition. */
  readonly searches: readonly Search[];
  readonly actionConfiguration: string;
};

const ROUTES_MAX = 20;

export const configurationNameSchema: StringSchema = {
  kind: 'string', minLength: 1, maxLength: 128,
};

export const routesMember: MemberSchema = {
  schema: {
    kind: 'array', maxItems: ROUTES_MAX,
    items: {
      kind: 'object', name: 'WebhookRoute',
      members: {
        name: {
          schema: {
            kind: 'string', pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
            description: '1-64 of A-Z, a-z, 0-9, ".", "_" and "-", beginning with a letter or '
              + 'digit',
          },
          isRequired: true, description: 'Unique in the webhook',
        },
        when: {
          schema: conditionSchema,
          description: 'Which requests it runs for; absent: every one',
        },
        actionConfiguration: {
          schema: configurationNameSchema, isRequired: true,
          description: 'The identifier of an existing action configuration',
        },
      },
      check: ({ when }) => findConditionProblems(when, '/when'),
    },
  },
  description: 'Instead of `actionConfiguration`: all that match a request run, each for itself',
};

/** Whether there are routes, in a value that the schema of `routes` has accepted. */
export function hasRoutes(routes: unknown): routes is readonly WebhookRoute[] {
  return Array.isArray(routes) && routes.length > 0;
}

/** Checks `routes` and `actionConfiguration` against each other, and the names of routes. */
export function findRouteProblems(
  { routes, actionConfiguration }: JsonObject, input: JsonObject,
): FieldError[] {
  if (routes === undefined) {
    const hasInvalidRoutes = (input['routes'] ?? null) !== null;
    return hasInvalidRoutes || actionConfiguration !== undefined ? []
      : [{ pointer: '/actionConfiguration', detail: 'is required, unless there are routes' }];
  }
  const list: readonly JsonValue[] = Array.isArray(routes) ? routes : [];
  const errors: FieldError[] = [];
  if (actionConfiguration !== undefined) {
    const detail = 'stand beside actionConfiguration: set one of the two to null';
    errors.push({ pointer: '/routes', detail });
  }
  if (list.length === 0) {
    errors.push({ pointer: '/routes', detail: 'must hold a route; null removes them' });
  }
  const names = list.map((route) => isJsonObject(route) ? route['name'] : undefined);
  for (const [index, name] of names.entries()) {
    if (name === undefined || names.indexOf(name) === index) continue;
    errors.push({ pointer: `/routes/${index}/name`, detail: 'must not stand twice' });
  }
  return errors;
}

/** The name of the route of a webhook with an `actionConfiguration`. */
const DEFAULT_ROUTE = 'default';

type RouteMembers =
  { readonly actionConfiguration?: string; readonly routes?: readonly WebhookRoute[] };

export function prepareRoutes({ actionConfiguration, routes }: RouteMembers): ReadyWebhookRoute[] {
  if (routes === undefined) {
    return actionConfiguration === undefined ? []
      : [{ name: DEFAULT_ROUTE, matches: null, searches: [], actionConfiguration }];
  }
  return routes.map(({ name, when, actionConfiguration: configuration }) => {
    const searches: Search[] = [];
    const matches = when === undefined ? null : prepareCondition(when, searches);
    return { name, matches, searches, actionConfiguration: configuration };
  });
}
