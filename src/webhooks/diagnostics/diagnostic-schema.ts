/** The bodies and answers of the routes that help to set up a webhook. */
import { isIP } from 'node:net';
import type { FieldError } from '../../base/errors.ts';
import type { JsonObject, JsonSchema } from '../../base/schema.ts';
import { describeObject, type AnswerOf, type SchemaOf } from '../../base/schema-types.ts';
import { timeSchema } from '../../base/time.ts';
import { ANY_JSON, FLAG, TEXT, arraySchema, objectSchema } from '../../resources/route-specs.ts';
import { decodeBytes } from '../senders/verification/encoding.ts';
import { routesMember } from '../incoming/routes-member.ts';

const HEADERS_BYTES_MAX = 64 * 1024;

const REQUEST_MEMBERS = {
  request: (others: string) => ({
    schema: { kind: 'string', maxLength: 64 },
    description: `The id of a kept request; or ${others} and the members after it`,
  } as const),
  headers: {
    schema: createHeadersSchema<string | readonly string[]>(HEADERS_BYTES_MAX, 3),
    description: 'As they came: names and values; of one that came repeatedly an array',
  },
  method: {
    schema: {
      kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
      mustBe: 'an HTTP method in upper case',
    },
    description: 'POST when absent',
  },
} as const;

function createHeadersSchema<Value>(
  bytesMax: number, depthMax: number,
): SchemaOf<Readonly<Record<string, Value>>, JsonSchema> {
  return { kind: 'json', isObject: true, bytesMax, depthMax };
}

/** A stored request brings these members itself. */
function refuseBesideRequest(description: JsonObject): FieldError[] {
  return Object.keys(description).map((name) =>
    ({ pointer: `/${name}`, detail: 'cannot stand beside request, which has its own' }));
}

export const examplesSchema = objectSchema('IncomingWebhookExamples', {
  identifier: TEXT, pathSegment: TEXT, hasSecret: FLAG, url: TEXT,
  curl: [TEXT, 'null: only the sender can sign'],
  php: [TEXT, 'null where the webhook has a `verification`'],
  curlObstacle: [TEXT, 'Why there is no call to copy; null: there is one'],
  setup: objectSchema('SenderSetup', {
    preset: TEXT, sender: TEXT, url: [TEXT, 'To register at the sender'], pasteUrl: TEXT,
    pasteSecret: TEXT, documentation: TEXT,
    unconfirmed: [TEXT, 'What is known from memory or a third party alone; null: nothing'],
    canSign: [FLAG, 'false: the secret is a public key, so that only the sender can sign'],
  }, { nullable: ['unconfirmed'] }),
}, { nullable: ['curl', 'php', 'curlObstacle', 'setup'] });

const NO_CODE = 'null: see `obstacle`';

export const outgoingExamplesSchema = objectSchema('OutgoingWebhookExamples', {
  identifier: TEXT,
  preset: [TEXT, 'As whom it signs; null: by a scheme of its own, or not at all'],
  node: [TEXT, `JavaScript for Node.js that verifies its requests; ${NO_CODE}`],
  php: [TEXT, NO_CODE], python: [TEXT, NO_CODE],
  obstacle: [TEXT, 'Why there is no such code; null: there is'],
  curl: [TEXT, 'A call to try a receiver with, signed as the requests are; null: see '
    + '`curlObstacle`'],
  curlObstacle: [TEXT, 'Why there is no such call; null: there is one'],
}, { nullable: ['preset', 'node', 'php', 'python', 'obstacle', 'curl', 'curlObstacle'] });

export type OutgoingWebhookExamples = AnswerOf<typeof outgoingExamplesSchema>;

export type IncomingWebhookExamples = AnswerOf<typeof examplesSchema>;

export const sampleRequestSchema = describeObject({
  kind: 'object', name: 'SampleRequest',
  members: {
    event: { schema: TEXT },
    payload: { schema: ANY_JSON },
    handshake: { schema: { kind: 'boolean' } },
  },
});

export const sampleSchema = objectSchema('SampleCall', {
  isAddressLimited: [
    FLAG, 'Whether `allowedAddresses` is set: it does not apply to calls over the control socket',
  ],
  method: TEXT, path: TEXT,
  headers: createHeadersSchema<string>(Infinity, 2),
  body: [TEXT, 'base64; null: it has none'],
}, { nullable: ['body'] });

export type SampleCall = AnswerOf<typeof sampleSchema>;

export const receivedRequestSchema = describeObject({
  kind: 'object', name: 'ReceivedRequest',
  members: {
    request: REQUEST_MEMBERS.request('`headers`'),
    headers: REQUEST_MEMBERS.headers,
    body: {
      schema: {
        kind: 'string', mustBe: 'base64',
        canonical: (body) => body === '' || decodeBytes(body, 'base64') !== null ? body : null,
      },
      description: 'The raw bytes in base64; none when absent',
    },
    method: REQUEST_MEMBERS.method,
    url: {
      schema: { kind: 'string', maxLength: 8192 },
      description: 'What was called; its query counts',
    },
    client: {
      schema: {
        kind: 'string', maxLength: 64, mustBe: 'an IP address such as 203.0.113.9',
        canonical: (address) => isIP(address) === 0 ? null : address,
      },
      description: 'Its address',
    },
    at: {
      schema: timeSchema,
      description: 'When it came; now, or when a kept one came, when absent',
    },
  },
  check({ request, at: _, ...description }) {
    if (request !== undefined) return refuseBesideRequest(description);
    return description['headers'] === undefined
      ? [{ pointer: '/headers', detail: 'is required, or request' }] : [];
  },
});

export const requestToMatchSchema = describeObject({
  kind: 'object', name: 'RequestToMatch',
  members: {
    request: REQUEST_MEMBERS.request('`payload`'),
    payload: {
      schema: ANY_JSON, isNullKept: true,
      description: 'What is taken as payload: an object or array, anything else counts as []',
    },
    event: {
      schema: { kind: 'string', maxLength: 1000 },
      description: 'What happened, as the sender names it; read from the headers and the payload '
        + 'by the preset when absent',
    },
    headers: REQUEST_MEMBERS.headers,
    query: {
      schema: { kind: 'string', maxLength: 8192 }, description: 'The raw query without `?`',
    },
    method: REQUEST_MEMBERS.method,
    routes: {
      ...routesMember,
      description: 'Routes to try in place of those that the webhook has: to see what they do '
        + 'before they are saved',
    },
  },
  check({ request, routes: _, ...description }, input) {
    if (request !== undefined) return refuseBesideRequest(description);
    // A `request` that is there but invalid has an error of its own.
    const isPresent = input['request'] !== undefined || description['payload'] !== undefined;
    return isPresent ? [] : [{ pointer: '/payload', detail: 'is required, or request' }];
  },
});

export const matchSchema = objectSchema('RequestMatch', {
  event: TEXT,
  routes: arraySchema(objectSchema('RouteMatch', {
    name: TEXT, matches: FLAG,
    failed: arraySchema(objectSchema('FailedCondition', { pointer: TEXT, detail: TEXT })),
  })),
}, { nullable: ['event'] });
