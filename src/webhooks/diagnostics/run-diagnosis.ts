/** Collects what a diagnosis of one request needs to know, and runs it. */
import type { JsonObject } from '../../base/schema.ts';
import { quote } from '../../base/text/error-message.ts';
import { parseTime } from '../../base/time.ts';
import type { Duplicates } from '../inbox/intake/duplicates.ts';
import type { RequestService } from '../inbox/request-service.ts';
import { Facts } from '../members/filters/facts.ts';
import { diagnose, type PartFinding } from '../senders/diagnosis/diagnose.ts';
import type { Diagnosis } from '../senders/diagnosis/diagnosis-report.ts';
import { decodeBody, isDecoded } from '../senders/request/plain-body.ts';
import { createRequestReader, type RawRequest } from '../senders/request/request-reader.ts';
import { isHandshakeAttempt } from '../senders/verification/handshake.ts';
import { createEmptyPayload } from '../actions/action-payload.ts';
import { createStoredFacts } from '../inbox/intake/stored-facts.ts';
import { explainUnparsed } from '../incoming/body-format.ts';
import { explainRoutes, formatFailedConditions } from '../incoming/explain-routes.ts';
import { readNameOrId } from '../incoming/receiving/admitted-request.ts';
import { IncomingBody } from '../incoming/receiving/incoming-body.ts';
import type {
  IncomingWebhookIndex, ReadyIncomingWebhook,
} from '../incoming/receiving/incoming-webhook-index.ts';
import { listSecrets, type Verifier } from '../senders/verification/verify.ts';
import type { RelayContext } from '../relay-context.ts';
import { createSenderVerifier } from '../incoming/verification-member.ts';
import {
  loadStoredRequest, parseDescribedRequest, type DiagnosedRequest,
} from './diagnosed-request.ts';
import { checkDuplicate } from './duplicate-check.ts';

export type DiagnosisSources = Pick<RelayContext, 'clock' | 'makeId'> & {
  readonly webhooks: IncomingWebhookIndex;
  readonly requests: Pick<RequestService, 'find' | 'findBody'>;
  readonly duplicates: Pick<Duplicates, 'lookUp'>;
  /** An absolute URL without a slash at its end. */
  readonly baseUri: () => string;
  readonly isUnsignedAllowed: boolean;
};

export async function runDiagnosis(
  { requests, duplicates, clock, isUnsignedAllowed }: DiagnosisSources,
  webhook: ReadyIncomingWebhook, input: JsonObject,
): Promise<Diagnosis> {
  const { preset, verifier } = webhook.sender ?? createSenderVerifier(webhook);
  const { request: id, at } = input;
  const diagnosedRequest = id === undefined
    ? parseDescribedRequest(webhook, input)
    : loadStoredRequest(requests, webhook, verifier.scheme, String(id));
  const { request, url, client, recordedVerdict } = diagnosedRequest;
  const acceptsUnsigned = webhook.verification === undefined
    && webhook.secret === undefined && isUnsignedAllowed;
  return diagnose({
    preset, verifier, request, url, acceptsUnsigned, recordedVerdict,
    secrets: listSecrets(webhook),
    rejectionReason: findRejectionReason(webhook, verifier, request),
    address: webhook.addresses === null || client === null ? null : {
      client, isAllowed: webhook.addresses.hasLiteral(client),
    },
    duplicate: checkDuplicate(webhook, diagnosedRequest, duplicates),
    bodyHint: findBodyHint(webhook, diagnosedRequest),
    routes: webhook.hasRoutes ? findRoutes(webhook, diagnosedRequest) : null,
    nowMs: (at === undefined ? diagnosedRequest.atMs : parseTime(String(at))) ?? clock.now(),
  });
}

/**
 * A hint about the body: its encoding, and why no payload is made of it; null also for a body that
 * was not stored whole.
 */
function findBodyHint(
  { bodyReading }: ReadyIncomingWebhook, diagnosedRequest: DiagnosedRequest,
): string | null {
  if (!isBodyWhole(diagnosedRequest)) return null;
  const { request, storedRequest } = diagnosedRequest;
  const { body, headers: { 'content-type': type, 'content-encoding': encoding } } = request;
  const plainBody = decodeBody(body, encoding, bodyReading.plainBytesMax);
  if (!isDecoded(plainBody)) return explainUnparsed(bodyReading, plainBody, type);
  // A description may lack the type.
  const isTyped = storedRequest !== null || type !== undefined;
  const unparsed = isTyped ? explainUnparsed(bodyReading, plainBody, type) : null;
  if (encoding === undefined || body.length === 0) return unparsed;
  const decoded = `without its Content-Encoding ${quote(encoding)} the body has ${plainBody.length}`
    + ' bytes, of which the payload is made; it is forwarded as it came';
  return unparsed === null ? decoded : `${decoded}; ${unparsed}`;
}

/** A rejected request keeps only the beginning of a long body, and nothing of one unread. */
function isBodyWhole({ request, storedRequest }: DiagnosedRequest): boolean {
  return storedRequest === null || storedRequest.bodyBytes === request.body.length;
}

/** The routes that take the request, or why none does. */
function findRoutes(
  webhook: ReadyIncomingWebhook, diagnosedRequest: DiagnosedRequest,
): PartFinding {
  if (!isBodyWhole(diagnosedRequest)) {
    return { status: 'skipped', finding: 'the whole body was not kept' };
  }
  const { request, storedRequest } = diagnosedRequest;
  const facts = storedRequest === null ? createRequestFacts(webhook, request)
    : createStoredFacts(storedRequest, request.body, webhook.bodyReading);
  const explanations = explainRoutes(webhook.routes, facts);
  const names = explanations.filter(({ matches }) => matches).map(({ name }) => name);
  return names.length > 0 ? { status: 'ok', finding: `taken by ${names.join(', ')}` }
    : { status: 'hint', finding: `no route takes it: ${formatFailedConditions(explanations)}` };
}

function createRequestFacts(
  { sender, bodyReading }: ReadyIncomingWebhook, request: RawRequest,
): Facts {
  const { body, headers, search, method } = request;
  return new Facts({
    payload: () => new IncomingBody(body, headers, bodyReading).readPayload()
      ?? createEmptyPayload(),
    event: () => sender === null ? null : readNameOrId(
      createRequestReader(sender.verifier.scheme, request), sender.verifier.scheme.event),
    headers, query: search, method,
  });
}

function findRejectionReason(
  { enabled, methods }: ReadyIncomingWebhook, { scheme, quirk }: Verifier, request: RawRequest,
): string | null {
  if (!enabled) return 'the webhook is disabled, and answers 404 to everything';
  const { method } = request;
  const reader = createRequestReader(scheme, request);
  if (isHandshakeAttempt(scheme, reader)) return null;
  if (methods.includes(method)) return quirk.findContentProblem?.(reader) ?? null;
  return `the method ${method} is not among ${methods.join(', ')}`;
}
