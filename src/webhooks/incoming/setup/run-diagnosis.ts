/** Gathers what a diagnosis of one request needs, and makes it. */
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { parseTime } from '../../../base/time.ts';
import type { Collection } from '../../../store/store-port.ts';
import type { RequestService } from '../../requests/service.ts';
import { diagnose } from '../../senders/diagnosis/diagnose.ts';
import type { Diagnosis } from '../../senders/diagnosis/report.ts';
import { findPreset } from '../../senders/presets/table.ts';
import { readerOf, type SignedRequest } from '../../senders/request/reader.ts';
import { isChallengeAttempt } from '../../senders/verification/challenge.ts';
import type { Verifier } from '../../senders/verification/verify.ts';
import { explainUnparsed } from '../body-format.ts';
import type { HookIndex, ReadyHook } from '../receiving/hook-index.ts';
import { prepareSenderCheck, secretsOf } from '../verification.ts';
import { storedRequest, writtenRequest, type DiagnosedRequest } from './diagnosed-request.ts';
import { getStored } from './hook.ts';
import { findRepeated, type LookUpEvent } from './repeated.ts';

export type DiagnoseParts = {
  readonly hooks: HookIndex;
  readonly collection: Collection;
  readonly requests: Pick<RequestService, 'find' | 'body'>;
  readonly lookUpEvent: LookUpEvent;
  readonly now: () => number;
  readonly isUnsignedAllowed: boolean;
};

export async function diagnoseFor(
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
  return diagnose({
    preset, verifier, request, url, isOpen, decided,
    secrets: secretsOf(stored),
    closed: findClosed(hook, verifier, request),
    address: hook.addresses === null || client === null ? null : {
      client, isAllowed: hook.addresses.hasLiteral(client),
    },
    repeated: findRepeated(hook, found, lookUpEvent),
    oddBody: explainBody(hook, found),
    nowMs: (at === undefined ? found.atMs : parseTime(String(at))) ?? now(),
  });
}

/** null also where the whole body was not kept, or nobody says of which type it was. */
function explainBody({ reading }: ReadyHook, { request, kept }: DiagnosedRequest): string | null {
  const { body, headers } = request;
  const type = headers['content-type'];
  const isWhole = kept === null ? type !== undefined : kept.bodyBytes === body.length;
  return isWhole ? explainUnparsed(reading, body, type) : null;
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
