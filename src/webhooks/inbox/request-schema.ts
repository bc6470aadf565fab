/** Stored requests as the API shows them. */
import { MASK } from '../../base/log.ts';
import type { ArraySchema } from '../../base/schema.ts';
import { describeObject, type AnswerOf, type SchemaOf } from '../../base/schema-types.ts';
import {
  ANY_JSON, FLAG, HEADER_PAIRS, arraySchema, objectSchema, TEXT, COUNT, TIME,
} from '../../resources/route-specs.ts';
import { getRouteName, listPublicAttempts, type Delivery } from '../deliveries/delivery.ts';
import {
  FITTING_FORMATS, REQUEST_STATUSES, ROUTE_STATUSES, shownStatusOf, type StoredRequest,
} from '../incoming/stored-request.ts';
import { hideQueryValues } from '../members/url-credentials.ts';

const ATTEMPTS: SchemaOf<Delivery['attempts'], ArraySchema> =
  arraySchema(objectSchema('RequestAttempt', {
    at: TIME, durationMs: COUNT, success: FLAG, message: TEXT, data: ANY_JSON,
  }, { nullable: ['message', 'data'] }));
const ROUTE = objectSchema('RequestRoute', {
  name: TEXT,
  status: [
    { kind: 'string', values: ROUTE_STATUSES },
    '`coalesced`: it was not run, as a newer request did for both',
  ],
  attempts: ATTEMPTS, nextAttemptAt: TIME,
}, { nullable: ['nextAttemptAt'] });
const VERDICT = objectSchema('RequestVerdict', {
  preset: TEXT, accepted: FLAG, failedCheck: TEXT,
  secret: { kind: 'string', values: ['current', 'previous'] }, signedAt: TIME,
}, { nullable: ['preset', 'failedCheck', 'secret', 'signedAt'] });

export const headersSchema = objectSchema('RequestHeaders', { query: TEXT, headers: HEADER_PAIRS });

export const requestSchema = objectSchema('Request', {
  id: TEXT, hook: TEXT,
  hookName: [TEXT, 'What people call the webhook; null without a name'],
  receivedAt: TIME, method: TEXT, path: TEXT, query: TEXT,
  headers: HEADER_PAIRS, bodyBytes: COUNT,
  bodyStart: [TEXT, 'The first 80 characters of the body without secrets; null of no text'],
  bodySha256: TEXT, client: TEXT, event: TEXT, eventId: TEXT, eventIdReused: FLAG, verdict: VERDICT,
  status: { kind: 'string', values: REQUEST_STATUSES }, routes: arraySchema(ROUTE),
  answered: objectSchema('RequestAnswer', { status: COUNT, afterMs: COUNT }),
  duplicateOf: TEXT, replayOf: TEXT, pinned: FLAG,
  unparsed: FLAG,
  fittingBodyFormat: [
    { kind: 'string', values: FITTING_FORMATS },
    'Of one that is unparsed (no payload could be made of its body, so that actions '
      + 'got []): the `bodyFormat` that would have fitted',
  ],
  unparsedReason: [
    TEXT,
    'Of one that is unparsed: why its Content-Encoding could not be taken off, its charset not '
      + 'be read, or what its Content-Type calls JSON not be parsed',
  ],
}, {
  nullable: [
    'hookName', 'bodyStart', 'event', 'eventId', 'answered', 'duplicateOf', 'replayOf',
    'fittingBodyFormat',
  ],
  optional: ['unparsed', 'fittingBodyFormat', 'unparsedReason'],
});

export const reconciliationSchema = objectSchema('RequestReconciliation', {
  accepted: COUNT, filtered: COUNT, duplicate: COUNT, pending: COUNT, done: COUNT,
  failed: COUNT, agedOut: COUNT, deleted: COUNT, isReconciled: FLAG,
  problems: { kind: 'array', items: TEXT, maxItems: 100 },
});

export const pinSchema = describeObject({
  kind: 'object', name: 'RequestChange',
  members: {
    pinned: {
      schema: FLAG, default: false, description: 'Kept whatever its age; null is false',
    },
  },
});

const ROUTES_MAX = 20;

export const replaySchema = describeObject({
  kind: 'object', name: 'RequestReplay',
  members: {
    routes: {
      schema: {
        kind: 'array', maxItems: ROUTES_MAX, isUnique: true,
        items: { kind: 'string', minLength: 1, maxLength: 128 },
      },
      description: 'Names of the routes to run; when absent those that failed, or else all that '
        + 'match now',
    },
    as: {
      schema: { kind: 'string', values: ['retry', 'new'] }, default: 'retry',
      description: '`retry` runs the same request again, under the same id; `new` a copy of it',
    },
  },
  check: ({ routes }) => Array.isArray(routes) && routes.length === 0
    ? [{ pointer: '/routes', detail: 'must name a route; leave it out for the usual ones' }] : [],
});

export type PublicRequest = AnswerOf<typeof requestSchema>;
export type RequestReconciliation = AnswerOf<typeof reconciliationSchema>;

/**
 * Returns the request as callers see it, with its signatures masked, the present name of its
 * webhook, and the beginning of its body.
 */
export function toPublicRequest(
  request: StoredRequest,
  { hookName, bodyStart }: Pick<PublicRequest, 'hookName' | 'bodyStart'>,
): PublicRequest {
  const {
    id, hook, receivedAt, method, path, bodyBytes, bodySha256, client, event, eventId,
    eventIdReused, verdict, status, answered, duplicateOf, replayOf, pinned, unparsed,
  } = request;
  const isHidden = (name: string): boolean =>
    request.signatures.includes(name.toLowerCase());
  return {
    id, hook, hookName, receivedAt, method, path, query: hideQueryValues(request.query, isHidden),
    headers: request.headers.map(([name, value]) => [name, isHidden(name) ? MASK : value]),
    bodyBytes, bodyStart, bodySha256, client, event, eventId, eventIdReused, verdict, status,
    routes: request.deliveries.map((delivery) => ({
      name: getRouteName(delivery), status: shownStatusOf(delivery),
      attempts: listPublicAttempts(delivery), nextAttemptAt: delivery.nextAttemptAt,
    })),
    answered, duplicateOf, replayOf, pinned,
    ...unparsed === null ? {}
      : { unparsed: true, fittingBodyFormat: unparsed.fittingFormat },
    ...unparsed?.reason === undefined ? {} : { unparsedReason: unparsed.reason },
  };
}
