/**
 * The member `routes` of an incoming webhook: which action configurations run for a request. HTTP
 * routes are something else (`server/http-route.ts`).
 */
import type { FieldError } from '../../base/errors.ts';
import { isJsonObject } from '../../base/fields.ts';
import type { JsonObject, JsonValue, MemberSchema } from '../../base/schema.ts';
import { describeObject, type RecordOf } from '../../base/schema-types.ts';
import { conditionSchema, findConditionProblems } from '../members/filters/condition.ts';
import { configurationMember } from '../members/members.ts';
import { DEFAULT_ROUTE } from '../deliveries/delivery.ts';
import { SOURCES, type ContainsTest } from '../members/filters/facts.ts';
import {
  createKeyReader, findKeyPath, findOrderProblems, orderMember, type KeyReader, type Order,
} from '../members/filters/order.ts';
import { prepareCondition, type Predicate } from '../members/filters/prepare-condition.ts';

const ROUTES_MAX = 20;

export const requestOrderMember = {
  ...orderMember,
  form: {
    ...orderMember.form,
    hint: 'Strict: the next waits until the one before is done or has failed for good. By key: '
      + 'only those wait that have the same value at the path. The sender must be answered at once',
  },
  description: 'The order of requests: in `none` one that is retried is overtaken, in `strict` the '
    + 'next waits until it is done or has failed for good. `{ "key": "<path>" }` is strict among '
    + 'those with the same text, number or boolean there, such as `payload.order.id`. Without it: '
    + '`none`. It needs the answer `accepted`',
} as const satisfies MemberSchema;

export const routesMember = {
  schema: {
    kind: 'array', maxItems: ROUTES_MAX,
    items: describeObject({
      kind: 'object', name: 'WebhookRoute',
      members: {
        name: {
          schema: {
            kind: 'string', pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
            mustBe: '1-64 of A-Z, a-z, 0-9, ".", "_" and "-", beginning with a letter or '
              + 'digit',
          },
          isRequired: true,
          description: 'It stands with each request that the route ran for, and is unique in the '
            + 'webhook',
        },
        when: {
          schema: conditionSchema, label: 'Runs when',
          description: 'Which requests it runs for. Without a condition it runs for every one',
        },
        actionConfiguration: {
          ...configurationMember, isRequired: true,
          description: 'The action configuration that runs, by its identifier',
          form: { ...configurationMember.form, hint: 'What is done' },
        },
        order: requestOrderMember,
      },
      check: ({ when, order }) => [
        ...findConditionProblems(when, '/when'), ...findOrderProblems(order, SOURCES),
      ],
    }),
  },
  form: { group: 'action', item: 'Route' },
  description: 'In place of one action for every request, which is left out then: each route that '
    + 'fits a request runs its own',
  option: {
    help: 'instead of --action-config: [{"name":"…", "when":{…}, "actionConfiguration":"…"}]',
    isPublic: true,
  },
} as const satisfies MemberSchema;

export type WebhookRoute = RecordOf<typeof routesMember.schema.items>;

/** A route as it is stored, with what is compiled once for each change of the webhook. */
export type ReadyWebhookRoute = WebhookRoute & {
  /** null: the route runs for every request. */
  readonly matches: Predicate | null;
  /** The `contains` of its condition. */
  readonly containsTests: readonly ContainsTest[];
  readonly order: Order;
  /** Reads the key by which requests keep their order; null: they keep none by key. */
  readonly readKey: KeyReader | null;
};

/** For a value that the schema of `routes` has accepted. */
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

/**
 * Checks the order of a webhook without routes, and whether the webhook may have any order: those
 * who get the result as the answer cannot be made to wait.
 */
export function findRouteOrderProblems(
  { routes, order, answer }: JsonObject,
): FieldError[] {
  const errors = findOrderProblems(order, SOURCES);
  if (order !== undefined && routes !== undefined) {
    errors.push({ pointer: '/order', detail: 'stands on each route, as there are routes' });
  }
  // An error of `order` or of `answer` is enough.
  if (answer === 'accepted' || answer === undefined || errors.length > 0) return errors;
  const list: readonly JsonValue[] = Array.isArray(routes) ? routes : [];
  const orders = list.map((route, index): [string, JsonValue | undefined] =>
    [`/routes/${index}/order`, isJsonObject(route) ? route['order'] : undefined]);
  for (const [pointer, value] of [['/order', order] as const, ...orders]) {
    if (value === undefined || value === 'none') continue;
    const detail = 'needs answer accepted, and so inbox all: with the result as the answer each '
      + 'request runs at once. Set these, or the order to "none"';
    errors.push({ pointer, detail });
  }
  return errors;
}

type RouteMembers = {
  readonly actionConfiguration?: string; readonly routes?: readonly WebhookRoute[];
  readonly order?: Order;
};

export function prepareRoutes(
  { actionConfiguration, routes, order = 'none' }: RouteMembers,
): ReadyWebhookRoute[] {
  if (routes !== undefined) return routes.map(prepareRoute);
  return actionConfiguration === undefined ? []
    : [prepareRoute({ name: DEFAULT_ROUTE, actionConfiguration, order })];
}

function prepareRoute(route: WebhookRoute): ReadyWebhookRoute {
  const { when, order = 'none' } = route;
  const containsTests: ContainsTest[] = [];
  const matches = when === undefined ? null : prepareCondition(when, containsTests);
  const keyPath = findKeyPath(order);
  const readKey = keyPath === null ? null : createKeyReader(keyPath);
  return { ...route, matches, containsTests, order, readKey };
}
