/** `POST /api/incoming-webhooks/{identifier}/diagnose` says why a request is not accepted. */
import { isIP } from 'node:net';
import type { FieldError } from '../../../base/errors.ts';
import { parseObject } from '../../../base/fields.ts';
import { lazyImport } from '../../../base/lazy-import.ts';
import type { JsonObject, ObjectSchema } from '../../../base/schema.ts';
import { timeSchema } from '../../../base/time.ts';
import {
  JSON_TYPE, arraySchema, objectSchema, jsonResponse, TEXT,
} from '../../../resources/route-specs.ts';
import { createKeyParameter } from '../../../resources/resource-routes.ts';
import { problemResponses } from '../../../server/problem.ts';
import type { HttpRoute } from '../../../server/http-route.ts';
import { CHECKS } from '../../senders/diagnosis/diagnosis-report.ts';
import { decodeBytes } from '../../senders/verification/encoding.ts';
import { incomingResource } from '../incoming-resource.ts';
import { headersMember } from './headers-input.ts';
import { getReadyWebhook } from './get-webhook.ts';
import type { DiagnosisDeps } from './run-diagnosis.ts';

const loadDiagnosis = lazyImport(() => import('./run-diagnosis.ts'));

const INPUT: ObjectSchema = {
  kind: 'object', name: 'ReceivedRequest',
  members: {
    request: {
      schema: { kind: 'string', maxLength: 64 },
      description: 'The id of a kept request; or `headers` and the members after it',
    },
    headers: headersMember,
    body: {
      schema: {
        kind: 'string', description: 'base64',
        canonical: (body) => body === '' || decodeBytes(body, 'base64') !== null ? body : null,
      },
      description: 'The raw bytes in base64; none when absent',
    },
    method: {
      schema: {
        kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
        description: 'an HTTP method in upper case',
      },
      description: 'POST when absent',
    },
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
  check: findInputProblems,
};

function findInputProblems({ request, at: _, ...description }: JsonObject): FieldError[] {
  if (request === undefined) {
    return description['headers'] === undefined
      ? [{ pointer: '/headers', detail: 'is required, or request' }] : [];
  }
  return Object.keys(description).map((name) =>
    ({ pointer: `/${name}`, detail: 'cannot stand beside request, which has its own' }));
}

export function diagnoseRoute(deps: DiagnosisDeps): HttpRoute {
  return {
    method: 'POST', path: '/api/incoming-webhooks/{identifier}/diagnose', access: 'write',
    operationId: 'diagnoseIncomingWebhook',
    summary: 'Say why a request is refused, or that it would be accepted',
    parameters: [createKeyParameter(incomingResource)],
    body: { mediaTypes: [JSON_TYPE], schema: INPUT },
    responses: [
      jsonResponse('What was found', objectSchema('Diagnosis', {
        accepted: { kind: 'boolean' }, failedCheck: { kind: 'string', values: CHECKS },
        checks: arraySchema(objectSchema('DiagnosisResult', {
          check: { kind: 'string', values: CHECKS },
          status: { kind: 'string', values: ['ok', 'failed', 'hint', 'skipped'] },
          finding: TEXT,
        })),
      }, { nullable: ['failedCheck'] })),
      ...problemResponses(400, 404, 413, 415, 422),
    ],
    async handle(exchange) {
      const webhook = getReadyWebhook(deps.webhooks, exchange.params[0] ?? '');
      const input = parseObject(INPUT, await exchange.readJson());
      exchange.sendJson(200,
        await loadDiagnosis(({ runDiagnosis }) => runDiagnosis(deps, webhook, input)));
    },
  };
}
