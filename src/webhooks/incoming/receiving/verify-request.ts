/**
 * Verifies that a request is its sender's. A handshake is answered at once; any other request is
 * admitted or rejected. Each request costs at most one verification.
 */
import type { Exchange } from '../../../server/http-route.ts';
import { formatTimestampOrNull } from '../../../base/clock.ts';
import {
  buildHandshakeResponse, findHandshake, isHandshakeAttempt, type HandshakeResponse,
} from '../../senders/verification/handshake.ts';
import { createRequestReader, type RequestReader } from '../../senders/request/request-reader.ts';
import { createRejection, type SenderRejection } from '../../senders/verification/verdict.ts';
import { verify } from '../../senders/verification/verify.ts';
import { isSignatureValid, explainInvalidSignature } from '../../senders/x-signature.ts';
import type { StoredVerdict } from '../stored-request.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';
import { X_SIGNATURE_PRESET, type SenderVerifier } from '../verification-member.ts';

function createAdmission(
  preset: string | null, secret: StoredVerdict['secret'], signedAtMs: number | null = null,
): StoredVerdict {
  const signedAt = formatTimestampOrNull(signedAtMs);
  return { preset, accepted: true, failedCheck: null, secret, signedAt };
}

const UNSIGNED_ADMISSION = createAdmission(null, null);
const CURRENT_ADMISSION = createAdmission(X_SIGNATURE_PRESET, 'current');
const PREVIOUS_ADMISSION = createAdmission(X_SIGNATURE_PRESET, 'previous');

const NO_SECRET = 'the webhook has no secret, and incoming.allowUnsignedWhenSecretMissing is false';
const NO_BODY = Buffer.alloc(0);

/** Verifies by X-Signature, for a webhook without `verification` that has a secret. */
export function verifySignature(
  { signatureKeys }: ReadyIncomingWebhook, exchange: Exchange, body: Buffer,
  { nowMs, isUnsignedAllowed }: { readonly nowMs: number; readonly isUnsignedAllowed: boolean },
): StoredVerdict | SenderRejection {
  const [current, previous] = signatureKeys;
  if (current === undefined) {
    return isUnsignedAllowed ? UNSIGNED_ADMISSION : createRejection('configuration', NO_SECRET);
  }
  const signature = exchange.request.headers['x-signature'];
  if (isSignatureValid(current.key, body, signature)) return CURRENT_ADMISSION;
  const isPrevious = previous !== undefined && nowMs < previous.validUntilMs
    && isSignatureValid(previous.key, body, signature);
  return isPrevious ? PREVIOUS_ADMISSION : explainInvalidSignature(signature);
}

/** Verifies by the scheme of a webhook's `verification`. */
export function verifySender(
  { preset, verifier }: SenderVerifier, reader: RequestReader, nowMs: number,
): StoredVerdict | HandshakeResponse | SenderRejection {
  const { scheme, problem } = verifier;
  const unsignedHandshake = findHandshake(scheme, reader, 'unsigned');
  if (unsignedHandshake !== null) {
    // A handshake that brings the secret comes while there is none.
    const obstacle = unsignedHandshake.secret === undefined ? problem : null;
    return obstacle ?? buildHandshakeResponse(unsignedHandshake, verifier, reader, nowMs);
  }
  const isAttempt = isHandshakeAttempt(scheme, reader);
  if (isAttempt && findHandshake(scheme, reader, 'signed') === null) {
    return createRejection('handshake', 'the challenge is not whole');
  }
  const verdict = verify(verifier, reader, nowMs);
  if (!verdict.isGenuine) return verdict;
  const { secret, signedAtMs } = verdict;
  const signedHandshake = findHandshake(scheme, reader, 'signed');
  return signedHandshake === null
    ? createAdmission(preset.name, secret, signedAtMs)
    : buildHandshakeResponse(signedHandshake, verifier, reader, nowMs, secret);
}

/** Whether a method that the webhook does not allow is that of its sender's handshake. */
export function isHandshakeMethod(
  { sender }: ReadyIncomingWebhook, exchange: Exchange,
): boolean {
  return sender !== null
    && isHandshakeAttempt(sender.verifier.scheme, createReader(exchange, NO_BODY, sender, 0));
}

/** `sender` is null for a webhook without `verification`. */
export function createReader(
  { request, search }: Exchange, body: Buffer, sender: SenderVerifier | null,
  plainBytesMax: number,
): RequestReader {
  const { method = '', headers, rawHeaders } = request;
  return createRequestReader(sender?.verifier.scheme ?? {},
    { method, headers, rawHeaders, search, body, plainBytesMax });
}
