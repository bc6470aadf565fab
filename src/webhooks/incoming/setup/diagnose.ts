/** `POST /api/incoming-webhooks/{identifier}/diagnose`: why a request is not taken. */
import { AppError } from '../../../base/errors.ts';
import { parseObject } from '../../../base/fields.ts';
import type { JsonObject, ObjectSchema } from '../../../base/schema.ts';
import {
  JSON_TYPE, arrayOf, objectOf, pathParameter, shown, text,
} from '../../../resources/route-parts.ts';
import { problemAnswers } from '../../../server/problem.ts';
import type { Route } from '../../../server/route.ts';
import type { Collection } from '../../../store/port.ts';
import { CHECKS, type Diagnosis } from '../../senders/diagnosis/report.ts';
import { findPreset } from '../../senders/presets/table.ts';
import { readerOf, type SignedRequest } from '../../senders/request/reader.ts';
import { decodeBytes } from '../../senders/verification/encoding.ts';
import { isChallengeAttempt } from '../../senders/verification/challenge.ts';
import { parseTime } from '../../senders/verification/time.ts';
import type { Verifier } from '../../senders/verification/verify.ts';
import type { HookIndex, ReadyHook } from '../receiving/hook-index.ts';
import { prepareSenderCheck, secretsOf } from '../verification.ts';
import { givenHeadersMember, joinHeaders, rawHeadersOf } from './given-headers.ts';
import { getHook, getStored } from './hook.ts';

type DiagnoseParts = {
  readonly hooks: HookIndex;
  readonly collection: Collection;
  readonly now: () => number;
  readonly isUnsignedAllowed: boolean;
};

const NO_INBOX = 'is not possible, as received requests are not kept: give headers and body '
  + 'instead';

const INPUT: ObjectSchema = {
  kind: 'object', name: 'ReceivedRequest',
  members: {
    request: { schema: text(), description: 'Not possible yet: received requests are not kept' },
    headers: givenHeadersMember,
    body: {
      schema: {
        kind: 'string', description: 'base64',
        canonical: (given) => given === '' || decodeBytes(given, 'base64') !== null ? given : null,
      },
      description: 'The raw bytes in base64; none when absent',
    },
    method: {
      schema: {
        kind: 'string', maxLength: 32, pattern: /^[A-Z][A-Z-]*$/,
        description: 'an HTTP method in upper case',
      },
      default: 'POST',
    },
    url: {
      schema: { kind: 'string', maxLength: 8192 },
      description: 'What was called; its query counts',
    },
    client: { schema: { kind: 'string', maxLength: 64 }, description: 'Its address' },
    at: {
      schema: {
        kind: 'string', format: 'date-time', maxLength: 64,
        description: 'an RFC 3339 time such as 2026-01-31T12:00:00Z',
        canonical: (given) => typeof parseTime(given, 'iso') === 'number' ? given : null,
      },
      description: 'When it came; now when absent',
    },
  },
  check: ({ request, headers }) => request !== undefined
    ? [{ pointer: '/request', detail: NO_INBOX }]
    : headers === undefined ? [{ pointer: '/headers', detail: 'is required' }] : [],
};

export function diagnoseRoute(parts: DiagnoseParts): Route {
  return {
    method: 'POST', path: '/api/incoming-webhooks/{identifier}/diagnose', access: 'write',
    operationId: 'diagnoseIncomingWebhook',
    summary: 'Say why a request is refused, or that it would be accepted',
    parameters: [pathParameter('identifier', 'Of the webhook, or its path segment')],
    body: { mediaTypes: [JSON_TYPE], schema: INPUT },
    answers: [
      shown('What was found', objectOf('Diagnosis', {
        accepted: { kind: 'boolean' }, failedCheck: { kind: 'string', values: CHECKS },
        checks: arrayOf(objectOf('DiagnosisResult', {
          check: { kind: 'string', values: CHECKS },
          status: { kind: 'string', values: ['ok', 'failed', 'hint', 'skipped'] },
          finding: text(),
        })),
      }, { nullable: ['failedCheck'] })),
      ...problemAnswers(400, 404, 413, 415, 422),
    ],
    async handle(exchange) {
      const hook = getHook(parts.hooks, exchange.params[0] ?? '');
      const given = parseObject(INPUT, await exchange.readJson());
      exchange.sendJson(200, await diagnoseFor(parts, hook, given));
    },
  };
}

async function diagnoseFor(
  { collection, now, isUnsignedAllowed }: DiagnoseParts, hook: ReadyHook, given: JsonObject,
): Promise<Diagnosis> {
  const stored = getStored(collection, hook);
  const verification = stored.verification ?? { preset: 'hookshelf' };
  const preset = findPreset(verification.preset);
  const check = prepareSenderCheck({ ...stored, verification });
  if (preset === undefined || check === null) {
    throw new AppError('conflict', `this version knows no preset ${verification.preset}`);
  }
  const { verifier } = check;
  const url = given['url'] === undefined ? null : String(given['url']);
  const request = requestOf(given, url ?? '');
  const isOpen = stored.verification === undefined && stored.secret === undefined
    && isUnsignedAllowed;
  const { client, at } = given;
  const time = at === undefined ? now() : parseTime(String(at), 'iso');
  // Loaded when somebody asks: an idle server has no use for it.
  const { diagnose } = await import('../../senders/diagnosis/diagnose.ts');
  return diagnose({
    preset, verifier, request, url, isOpen,
    secrets: secretsOf(stored),
    closed: findClosed(hook, verifier, request),
    address: hook.addresses === null || client === undefined ? null : {
      client: String(client), isAllowed: hook.addresses.hasAsItStands(String(client)),
    },
    nowMs: typeof time === 'number' ? time : now(),
  });
}

function findClosed(
  { enabled, methods }: ReadyHook, { scheme }: Verifier, request: SignedRequest,
): string | null {
  if (!enabled) return 'the webhook is disabled, and answers 404 to everything';
  const { method } = request;
  if (methods.includes(method)) return null;
  if (method === 'GET' && isChallengeAttempt(scheme, readerOf(scheme, request))) return null;
  return `the method ${method} is not among ${methods.join(', ')}`;
}

function requestOf(given: JsonObject, url: string): SignedRequest {
  const rawHeaders = rawHeadersOf(given['headers']);
  const query = url.indexOf('?');
  return {
    method: String(given['method']), headers: joinHeaders(rawHeaders), rawHeaders,
    search: query === -1 ? '' : url.slice(query + 1).replace(/#.*$/s, ''),
    body: Buffer.from(String(given['body'] ?? ''), 'base64'),
  };
}
