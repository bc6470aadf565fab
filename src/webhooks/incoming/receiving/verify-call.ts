/**
 * Whether a received request is its sender's. A handshake is answered at once; anything else is
 * admitted or refused. Nothing here costs more than one verification.
 */
import type { Exchange } from '../../../server/http-route.ts';
import type { Verified } from '../../actions/action.ts';
import {
  answerChallenge, findChallenge, isChallengeAttempt, type ChallengeAnswer,
} from '../../senders/verification/challenge.ts';
import { RequestReader } from '../../senders/request/reader.ts';
import { refusal, type Refusal } from '../../senders/verification/verdict.ts';
import { verify } from '../../senders/verification/verify.ts';
import { isSignatureValid, signatureRefusal } from '../../senders/x-signature.ts';
import type { ReadyHook } from './hook-index.ts';
import type { SenderCheck } from '../verification.ts';

/** `by` is null where nobody was asked to sign. */
type Admission = {
  readonly isAdmitted: true; readonly by: Verified | null; readonly signedAtMs: number | null;
};

/** Of the webhooks without `verification` that have a secret. */
export const OUR_PRESET = 'hookshelf';

const UNASKED: Admission = { isAdmitted: true, by: null, signedAtMs: null };
const CURRENT: Admission = { ...UNASKED, by: { preset: OUR_PRESET, secret: 'current' } };
const PREVIOUS: Admission = { ...UNASKED, by: { preset: OUR_PRESET, secret: 'previous' } };

const NO_SECRET = 'the webhook has no secret, and incoming.allowUnsignedWhenSecretMissing is false';
const NO_BODY = Buffer.alloc(0);

/** A webhook without `verification`: by X-Signature, when it has a secret. */
export function verifySignature(
  { keys }: ReadyHook, exchange: Exchange, body: Buffer,
  { nowMs, isUnsignedAllowed }: { readonly nowMs: number; readonly isUnsignedAllowed: boolean },
): Admission | Refusal {
  const [current, previous] = keys;
  if (current === undefined) {
    return isUnsignedAllowed ? UNASKED : refusal('configuration', NO_SECRET);
  }
  const signature = exchange.request.headers['x-signature'];
  if (isSignatureValid(current.key, body, signature)) return CURRENT;
  const isPrevious = previous !== undefined && nowMs < previous.validUntilMs
    && isSignatureValid(previous.key, body, signature);
  return isPrevious ? PREVIOUS : signatureRefusal(signature);
}

/** A webhook with `verification`. */
export function verifySender(
  { preset, verifier }: SenderCheck, parts: RequestReader, nowMs: number,
): Admission | ChallengeAnswer | Refusal {
  const { scheme, problem } = verifier;
  const unsigned = findChallenge(scheme, parts, 'unsigned');
  if (unsigned !== null) return problem ?? answerChallenge(unsigned, verifier, parts);
  const isAttempt = isChallengeAttempt(scheme, parts);
  if (isAttempt && findChallenge(scheme, parts, 'signed') === null) {
    return refusal('handshake', 'the challenge is not whole');
  }
  const verdict = verify(verifier, parts, nowMs);
  if (!verdict.isGenuine) return verdict;
  const { secret, signedAtMs } = verdict;
  const signed = findChallenge(scheme, parts, 'signed');
  return signed === null ? { isAdmitted: true, by: { preset, secret }, signedAtMs }
    : answerChallenge(signed, verifier, parts, secret);
}

/** Whether the webhook takes the method: it may take GET for its sender's handshake alone. */
export function isMethodAllowed({ methods, sender }: ReadyHook, exchange: Exchange): boolean {
  const { method = '' } = exchange.request;
  if (methods.includes(method)) return true;
  return method === 'GET' && sender !== null
    && isChallengeAttempt(sender.verifier.scheme, partsOf(exchange, NO_BODY, sender));
}

/** `sender` is null for a webhook without `verification`. */
export function partsOf(
  { request, search }: Exchange, body: Buffer, sender: SenderCheck | null,
): RequestReader {
  const { method = '', headers, rawHeaders } = request;
  const { payload } = sender?.verifier.scheme ?? {};
  const formField = typeof payload === 'object' ? payload.formField : null;
  return new RequestReader({ method, headers, rawHeaders, search, body }, formField);
}
