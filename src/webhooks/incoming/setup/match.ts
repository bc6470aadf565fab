/** `POST /api/incoming-webhooks/{identifier}/match`: which routes a request would run, and why. */
import { parseObject } from '../../../base/fields.ts';
import type { JsonObject, ObjectSchema } from '../../../base/schema.ts';
import { notFound } from '../../../resources/not-found.ts';
import {
  JSON_TYPE, anyJson, arrayOf, objectOf, pathParameter, shown, text,
} from '../../../resources/route-parts.ts';
import { problemAnswers } from '../../../server/problem.ts';
import type { Exchange, Route } from '../../../server/route.ts';
import type { Collection } from '../../../store/port.ts';
import { explainCondition } from '../../filters/explain.ts';
import { Facts } from '../../filters/facts.ts';
import { noPayload, toPayload } from '../../actions/payload.ts';
import type { RequestService } from '../../requests/service.ts';
import { readerOf } from '../../senders/request/reader.ts';
import { KeptCall } from '../intake/kept-call.ts';
import type { HookIndex, ReadyHook } from '../receiving/hook-index.ts';
import { factsOf } from '../receiving/run-routes.ts';
import { givenHeadersMember, joinHeaders, rawHeadersOf } from './given-headers.ts';
import { getHook, getStored } from './hook.ts';

type MatchParts = {
  readonly hooks: HookIndex;
  readonly collection: Collection;
  readonly requests: Pick<RequestService, 'find' | 'body'>;
};

const INPUT: ObjectSchema = {
  kind: 'object', name: 'RequestToMatch',
  members: {
    request: {
      schema: { kind: 'string', maxLength: 64 },
      description: 'The id of a kept request; or `payload` and the members after it',
    },
    payload: {
      schema: anyJson(), isNullKept: true,
      description: 'What is taken as payload: an object or array, anything else counts as []',
    },
    event: {
      schema: { kind: 'string', maxLength: 1000 },
      description: 'What happened, as the sender names it; read from the headers and the payload '
        + 'by the preset when absent',
    },
    headers: givenHeadersMember,
    query: {
      schema: { kind: 'string', maxLength: 8192 }, description: 'The raw query without `?`',
    },
    method: {
      schema: {
        kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
        description: 'an HTTP method in upper case',
      },
      description: 'POST when absent',
    },
  },
  check: findInputProblems,
};

function findInputProblems({ request, ...written }: JsonObject, given: JsonObject): {
  pointer: string; detail: string;
}[] {
  if (request === undefined) {
    const isGiven = given['request'] !== undefined || written['payload'] !== undefined;
    return isGiven ? [] : [{ pointer: '/payload', detail: 'is required, or request' }];
  }
  return Object.keys(written).map((name) =>
    ({ pointer: `/${name}`, detail: 'cannot stand beside request, which has its own' }));
}

export function matchRoute(parts: MatchParts): Route {
  return {
    method: 'POST', path: '/api/incoming-webhooks/{identifier}/match', access: 'write',
    operationId: 'matchIncomingWebhook',
    summary: 'Say which routes a request would run, and which conditions are false',
    parameters: [pathParameter('identifier', 'Of the webhook, or its path segment')],
    body: { mediaTypes: [JSON_TYPE], schema: INPUT },
    answers: [
      shown('Every route of the webhook', objectOf('RequestMatch', {
        event: text(),
        routes: arrayOf(objectOf('RouteMatch', {
          name: text(), matches: { kind: 'boolean' },
          failed: arrayOf(objectOf('FailedCondition', { pointer: text(), detail: text() })),
        })),
      }, { nullable: ['event'] })),
      ...problemAnswers(400, 404, 413, 415, 422),
    ],
    async handle(exchange) {
      const hook = getHook(parts.hooks, exchange.params[0] ?? '');
      const given = parseObject(INPUT, await exchange.readJson());
      const facts = given['request'] === undefined
        ? writtenFacts(hook, given) : keptFacts(parts, exchange, hook, String(given['request']));
      exchange.sendJson(200, matchesOf(parts, hook, facts));
    },
  };
}

function matchesOf({ collection }: MatchParts, hook: ReadyHook, facts: Facts): object {
  const { routes: stored = [] } = getStored(collection, hook);
  const routes = hook.routes.map(({ name }, index) => {
    const { when } = stored[index] ?? {};
    const failed = when === undefined ? []
      : explainCondition(when, facts, `/routes/${index}/when`);
    return { name, matches: failed.length === 0, failed };
  });
  return { event: facts.event() ?? null, routes };
}

function keptFacts(
  { requests }: MatchParts, exchange: Exchange, { reading }: ReadyHook, id: string,
): Facts {
  const request = requests.find(id);
  const body = requests.body(id);
  if (request === undefined || body === null) throw notFound('request', id);
  return factsOf(new KeptCall({ request, body, reading, attempt: 1, holder: exchange }, {}));
}

function writtenFacts({ sender }: ReadyHook, given: JsonObject): Facts {
  const { payload = null, event, query, method } = given;
  const rawHeaders = rawHeadersOf(given['headers']);
  const request = {
    method: String(method ?? 'POST'), headers: joinHeaders(rawHeaders), rawHeaders,
    search: String(query ?? ''), body: Buffer.from(JSON.stringify(payload)),
  };
  const readEvent = (): string | null => {
    const scheme = sender?.verifier.scheme;
    return scheme?.event === undefined ? null : readerOf(scheme, request).read(scheme.event);
  };
  return new Facts({
    payload: () => toPayload(payload) ?? noPayload(),
    event: () => event === undefined ? readEvent() : String(event),
    headers: request.headers, query: request.search, method: request.method,
  });
}
