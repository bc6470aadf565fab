/** The schemas of stored requests as the API shows them. */
import type { ObjectSchema } from '../../base/schema.ts';
import {
  ANY_JSON, FLAG, arraySchema, objectSchema, TEXT, COUNT, TIME,
} from '../../resources/route-specs.ts';
import { FITTING_FORMATS, REQUEST_STATUSES, ROUTE_STATUSES } from '../incoming/stored-request.ts';

const ATTEMPT = objectSchema('RequestAttempt', {
  at: TIME, durationMs: COUNT, success: FLAG, message: TEXT, data: ANY_JSON,
}, { nullable: ['message', 'data'] });
const ROUTE = objectSchema('RequestRoute', {
  name: TEXT,
  status: [
    { kind: 'string', values: ROUTE_STATUSES },
    '`coalesced`: it was not run, as a newer request did for both',
  ],
  attempts: arraySchema(ATTEMPT), nextAttemptAt: TIME,
}, { nullable: ['nextAttemptAt'] });
const VERDICT = objectSchema('RequestVerdict', {
  preset: TEXT, accepted: FLAG, failedCheck: TEXT,
  secret: { kind: 'string', values: ['current', 'previous'] }, signedAt: TIME,
}, { nullable: ['preset', 'failedCheck', 'secret', 'signedAt'] });

const headers = arraySchema(arraySchema(TEXT));
export const headersSchema = objectSchema('RequestHeaders', { query: TEXT, headers });

export const requestSchema: ObjectSchema = objectSchema('Request', {
  id: TEXT, hook: TEXT,
  hookName: [TEXT, 'What people call the webhook; null without a name'],
  receivedAt: TIME, method: TEXT, path: TEXT, query: TEXT,
  headers, bodyBytes: COUNT, bodySha256: TEXT, client: TEXT,
  event: TEXT, eventId: TEXT, eventIdReused: FLAG, verdict: VERDICT,
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
    'Of one that is unparsed: why its Content-Encoding could not be taken off, or '
      + 'its charset not be read',
  ],
}, {
  nullable: [
    'hookName', 'event', 'eventId', 'answered', 'duplicateOf', 'replayOf', 'fittingBodyFormat',
  ],
  optional: ['unparsed', 'fittingBodyFormat', 'unparsedReason'],
});

export const reconciliationSchema: ObjectSchema = objectSchema('RequestReconciliation', {
  accepted: COUNT, filtered: COUNT, duplicate: COUNT, pending: COUNT, done: COUNT,
  failed: COUNT, agedOut: COUNT, deleted: COUNT, isReconciled: FLAG,
  problems: { kind: 'array', items: TEXT, maxItems: 100 },
});

export const pinSchema: ObjectSchema = {
  kind: 'object', name: 'RequestChange',
  members: {
    pinned: {
      schema: FLAG, default: false, description: 'Kept whatever its age; null is false',
    },
  },
};

const ROUTES_MAX = 20;

export const replaySchema: ObjectSchema = {
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
};
