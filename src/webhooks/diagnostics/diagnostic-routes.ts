/**
 * Routes that help to set up an incoming webhook: its examples, the senders known by name, a sample
 * request, and why a request is refused, or which routes it would run. What answers them is loaded
 * with the first call.
 */
import { isIP } from 'node:net';
import type { FieldError } from '../../base/errors.ts';
import { lazyImport } from '../../base/lazy-import.ts';
import type { JsonObject, MemberSchema, ObjectSchema, Schema } from '../../base/schema.ts';
import type { AnswerOf } from '../../base/schema-types.ts';
import { timeSchema } from '../../base/time.ts';
import {
  ANY_JSON, FLAG, JSON_TYPE, TEXT, arraySchema, jsonResponse, listResponse, objectSchema,
} from '../../resources/route-specs.ts';
import { createKeyParameter } from '../../resources/resource-routes.ts';
import { problemResponses } from '../../server/problem.ts';
import type { HttpRoute } from '../../server/http-route.ts';
import { CHECKS } from '../senders/diagnosis/diagnosis-report.ts';
import { decodeBytes } from '../senders/verification/encoding.ts';
import { incomingResource } from '../incoming/incoming-resource.ts';
import { routesMember } from '../incoming/routes-member.ts';
import type { DiagnosisSources } from './run-diagnosis.ts';

const loadHandlers = lazyImport(() => import('./diagnostic-handlers.ts'));

const PATH = '/api/incoming-webhooks/{identifier}';
const HEADERS_BYTES_MAX = 64 * 1024;

export function diagnosticRoutes(sources: DiagnosisSources): readonly HttpRoute[] {
  return [
    examplesRoute(sources), sampleRoute(sources), presetsRoute(), diagnoseRoute(sources),
    matchRoute(sources),
  ];
}

/** The members of a request that is described or, by its id, a stored one. */
const REQUEST_MEMBERS = {
  request: (others: string): MemberSchema => ({
    schema: { kind: 'string', maxLength: 64 },
    description: `The id of a kept request; or ${others} and the members after it`,
  }),
  headers: {
    schema: { kind: 'json', isObject: true, bytesMax: HEADERS_BYTES_MAX, depthMax: 3 },
    description: 'As they came: names and values; of one that came repeatedly an array',
  },
  method: {
    schema: {
      kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
      description: 'an HTTP method in upper case',
    },
    description: 'POST when absent',
  },
} as const;

/** A stored request has all that can be described. */
function refuseBesideRequest(description: JsonObject): FieldError[] {
  return Object.keys(description).map((name) =>
    ({ pointer: `/${name}`, detail: 'cannot stand beside request, which has its own' }));
}

const examplesSchema = objectSchema('IncomingWebhookExamples', {
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

export type IncomingWebhookExamples = AnswerOf<typeof examplesSchema>;

/** Gives calls to copy, and says how to set up the sender. */
function examplesRoute(sources: DiagnosisSources): HttpRoute {
  return {
    method: 'GET', path: `${PATH}/examples`, access: 'read',
    operationId: 'getIncomingWebhookExamples',
    summary: 'Ready-to-run calls of one incoming webhook, and how to set up its sender',
    parameters: [createKeyParameter(incomingResource)],
    responses: [
      jsonResponse('The examples', examplesSchema),
      ...problemResponses(404),
    ],
    handle: (exchange) => loadHandlers(({ sendExamples }) => sendExamples(exchange, sources)),
  };
}

const seconds: Schema = { kind: 'integer', minimum: 1, maximum: 86_400 };

function presetsRoute(): HttpRoute {
  return {
    method: 'GET', path: '/api/verification-presets', access: 'read',
    operationId: 'listVerificationPresets',
    summary: 'The senders whose requests can be verified, and how to set each up',
    responses: [
      listResponse('The presets', objectSchema('VerificationPreset', {
        name: TEXT, sender: TEXT, header: TEXT, needs: arraySchema(TEXT),
        accepts: arraySchema(TEXT),
        covers: arraySchema({ kind: 'string', values: ['body', 'time', 'id'] }),
        toleranceS: seconds, answerWithinS: seconds, onFailure: TEXT, pasteUrl: TEXT,
        pasteSecret: TEXT, secretFrom: { kind: 'string', values: ['here', 'sender'] },
        signingObstacle: [TEXT, 'Why outgoing webhooks cannot sign as this sender; null: they can'],
        documentation: TEXT, unconfirmed: TEXT,
        formResponse: objectSchema('PresetFormResponse', { contentType: TEXT, body: TEXT }),
      }, {
        nullable: [
          'toleranceS', 'answerWithinS', 'onFailure', 'signingObstacle', 'unconfirmed',
          'formResponse',
        ],
      })),
    ],
    handle: (exchange) => loadHandlers(({ sendPresets }) => sendPresets(exchange)),
  };
}

const SAMPLE_INPUT: ObjectSchema = {
  kind: 'object', name: 'SampleRequest',
  members: {
    event: { schema: TEXT },
    payload: { schema: ANY_JSON },
    handshake: { schema: { kind: 'boolean' } },
  },
};

/**
 * The sample lets its owner call the webhook, and holds the secret itself if the sender proves
 * itself by a token or a password. So it needs the right to give the webhook another secret.
 */
function sampleRoute(sources: DiagnosisSources): HttpRoute {
  return {
    method: 'POST', path: `${PATH}/sample`, access: 'admin',
    operationId: 'makeSampleRequest', summary: 'A request as the sender would make it',
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: SAMPLE_INPUT },
    responses: [
      jsonResponse('To be sent as it is', objectSchema('SampleCall', {
        isAddressLimited: FLAG, method: TEXT, path: TEXT,
        headers: { kind: 'json', isObject: true, bytesMax: Infinity, depthMax: 2 },
        body: [TEXT, 'base64'],
      }, { nullable: ['body'] })),
      ...problemResponses(400, 404, 409, 413, 415, 422),
    ],
    handle: (exchange) => loadHandlers(({ sendSample }) =>
      sendSample(exchange, sources, SAMPLE_INPUT)),
  };
}

const DIAGNOSIS_INPUT: ObjectSchema = {
  kind: 'object', name: 'ReceivedRequest',
  members: {
    request: REQUEST_MEMBERS.request('`headers`'),
    headers: REQUEST_MEMBERS.headers,
    body: {
      schema: {
        kind: 'string', description: 'base64',
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
        kind: 'string', maxLength: 64, description: 'an IP address such as 203.0.113.9',
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
};

function diagnoseRoute(sources: DiagnosisSources): HttpRoute {
  return {
    method: 'POST', path: `${PATH}/diagnose`, access: 'write',
    operationId: 'diagnoseIncomingWebhook',
    summary: 'Say why a request is refused, or that it would be accepted',
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: DIAGNOSIS_INPUT },
    responses: [
      jsonResponse('What was found', objectSchema('Diagnosis', {
        accepted: FLAG, failedCheck: { kind: 'string', values: CHECKS },
        checks: arraySchema(objectSchema('DiagnosisResult', {
          check: { kind: 'string', values: CHECKS },
          status: { kind: 'string', values: ['ok', 'failed', 'hint', 'skipped'] },
          finding: TEXT,
        })),
      }, { nullable: ['failedCheck'] })),
      ...problemResponses(400, 404, 413, 415, 422),
    ],
    handle: (exchange) => loadHandlers(({ sendDiagnosis }) =>
      sendDiagnosis(exchange, sources, DIAGNOSIS_INPUT)),
  };
}

const MATCH_INPUT: ObjectSchema = {
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
};

function matchRoute(sources: DiagnosisSources): HttpRoute {
  return {
    method: 'POST', path: `${PATH}/match`, access: 'write',
    operationId: 'matchIncomingWebhook',
    summary: 'Say which routes a request would run, and which conditions are false',
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: MATCH_INPUT },
    responses: [
      jsonResponse('Every route of the webhook', objectSchema('RequestMatch', {
        event: TEXT,
        routes: arraySchema(objectSchema('RouteMatch', {
          name: TEXT, matches: FLAG,
          failed: arraySchema(objectSchema('FailedCondition', { pointer: TEXT, detail: TEXT })),
        })),
      }, { nullable: ['event'] })),
      ...problemResponses(400, 404, 413, 415, 422),
    ],
    handle: (exchange) => loadHandlers(({ sendMatches }) =>
      sendMatches(exchange, sources, MATCH_INPUT)),
  };
}
