/** `POST /api/incoming-webhooks/{identifier}/diagnose`: why a request is not taken. */
import { AppError, type FieldError } from '../../../base/errors.ts';
import { parseObject } from '../../../base/fields.ts';
import type { JsonObject, ObjectSchema } from '../../../base/schema.ts';
import {
  JSON_TYPE, arrayOf, objectOf, pathParameter, shown, text,
} from '../../../resources/route-parts.ts';
import { problemAnswers } from '../../../server/problem.ts';
import type { Route } from '../../../server/route.ts';
import type { Collection } from '../../../store/port.ts';
import type { RequestService } from '../../requests/service.ts';
import { CHECKS, type Diagnosis } from '../../senders/diagnosis/report.ts';
import { findPreset } from '../../senders/presets/table.ts';
import { readerOf, type SignedRequest } from '../../senders/request/reader.ts';
import { decodeBytes } from '../../senders/verification/encoding.ts';
import { isChallengeAttempt } from '../../senders/verification/challenge.ts';
import { parseTime } from '../../senders/verification/time.ts';
import type { Verifier } from '../../senders/verification/verify.ts';
import type { HookIndex, ReadyHook } from '../receiving/hook-index.ts';
import { prepareSenderCheck, secretsOf } from '../verification.ts';
import { storedRequest, writtenRequest } from './diagnosed-request.ts';
import { givenHeadersMember } from './given-headers.ts';
import { getHook, getStored } from './hook.ts';
import { findRepeated, type LookUpEvent } from './repeated.ts';

type DiagnoseParts = {
  readonly hooks: HookIndex;
  readonly collection: Collection;
  readonly requests: Pick<RequestService, 'find' | 'body'>;
  readonly lookUpEvent: LookUpEvent;
  readonly now: () => number;
  readonly isUnsignedAllowed: boolean;
};

const INPUT: ObjectSchema = {
  kind: 'object', name: 'ReceivedRequest',
  members: {
    request: {
      schema: { kind: 'string', maxLength: 64 },
      description: 'The id of a kept request; or `headers` and the members after it',
    },
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
      description: 'POST when absent',
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
      description: 'When it came; now, or when a kept one came, when absent',
    },
  },
  check: findInputProblems,
};

function findInputProblems({ request, at: _, ...written }: JsonObject): FieldError[] {
  if (request === undefined) {
    return written['headers'] === undefined
      ? [{ pointer: '/headers', detail: 'is required, or request' }] : [];
  }
  return Object.keys(written).map((name) =>
    ({ pointer: `/${name}`, detail: 'cannot stand beside request, which has its own' }));
}

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
  parts: DiagnoseParts, hook: ReadyHook, given: JsonObject,
): Promise<Diagnosis> {
  const { collection, requests, lookUpEvent, now, isUnsignedAllowed } = parts;
  const stored = getStored(collection, hook);
  const verification = stored.verification ?? { preset: 'hookshelf' };
  const preset = findPreset(verification.preset);
  const check = prepareSenderCheck({ ...stored, verification });
  if (preset === undefined || check === null) {
    throw new AppError('conflict', `this version knows no preset ${verification.preset}`);
  }
  const { verifier } = check;
  const { request: id, at } = given;
  const found = id === undefined
    ? writtenRequest(given) : storedRequest(requests, hook, verifier.scheme, String(id));
  const { request, url, client, decided } = found;
  const isOpen = stored.verification === undefined && stored.secret === undefined
    && isUnsignedAllowed;
  const time = at === undefined ? found.atMs : parseTime(String(at), 'iso');
  // Loaded when somebody asks: an idle server has no use for it.
  const { diagnose } = await import('../../senders/diagnosis/diagnose.ts');
  return diagnose({
    preset, verifier, request, url, isOpen, decided,
    secrets: secretsOf(stored),
    closed: findClosed(hook, verifier, request),
    address: hook.addresses === null || client === null ? null : {
      client, isAllowed: hook.addresses.hasAsItStands(client),
    },
    repeated: findRepeated(hook, found, lookUpEvent),
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
