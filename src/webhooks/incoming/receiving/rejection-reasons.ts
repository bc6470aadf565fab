/**
 * The reasons to reject a request of an incoming webhook: each has the error that the sender gets,
 * and the finding for the webhook's owner. receive.ts says in which order they are looked for.
 */
import { AppError, type ErrorCode } from '../../../base/errors.ts';
import { quote } from '../../../base/text/error-message.ts';
import type { Exchange } from '../../../server/http-route.ts';
import { SwitchedOffError } from '../../actions/run-action.ts';
import { NeverFitsError } from '../../deliveries/queue-capacity.ts';
import type { SenderRejection } from '../../senders/verification/verdict.ts';
import type { ReadyIncomingWebhook } from './incoming-webhook-index.ts';
import type { Rejection } from './webhook-traffic.ts';

// Running actions end within moments, not minutes.
const BUSY_RETRY_S = 1;
const FULL_RETRY_S = 10;
const UNKNOWN_MESSAGE = 'Webhook not found or disabled';
const UNVERIFIED_MESSAGE = 'Signature verification failed';
/** The codes of bodies that could not be read through the fault of the sender. */
const BODY_CODES: readonly ErrorCode[] = ['too_large', 'timeout', 'malformed'];

export function describeUnknownPath({ params: [segment = ''] }: Exchange): Rejection {
  return {
    code: 'not_found', message: UNKNOWN_MESSAGE, check: null,
    finding: `there is no webhook at ${quote(segment)}`,
  };
}

export const DISABLED_REJECTION: Rejection = {
  code: 'not_found', message: UNKNOWN_MESSAGE, finding: 'the webhook is disabled', check: null,
};

export function describeWrongMethod(
  { methods }: ReadyIncomingWebhook, { request: { method = '' } }: Exchange,
): Rejection {
  return {
    code: 'method_not_allowed', message: 'Method not allowed', check: 'method',
    finding: `the method ${method} is not among ${methods.join(', ')}`,
    details: { allow: methods },
  };
}

export function describeWrongAddress({ clientAddress }: Exchange): Rejection {
  return {
    code: 'forbidden', message: 'Address not allowed', check: 'address',
    finding: `${clientAddress} is not in allowedAddresses`,
  };
}

export function describeRateExcess(
  { traffic: { bucket } }: ReadyIncomingWebhook, retryAfterS: number,
): Rejection {
  return {
    code: 'too_many_requests', message: 'Too many requests', check: 'rate',
    finding: `more than ${bucket?.ratePerS} requests a second, its rate limit`,
    details: { retryAfterS },
  };
}

/** null: the sender has not caused the error. */
export function describeUnreadBody({ code, message }: AppError): Rejection | null {
  if (!BODY_CODES.includes(code)) return null;
  return { code, message, finding: message, check: code === 'too_large' ? 'size' : null };
}

export function describeUnverified(
  { sender }: ReadyIncomingWebhook, { check, finding }: SenderRejection,
): Rejection {
  return {
    code: 'unauthorized', message: UNVERIFIED_MESSAGE, check, finding,
    // No WWW-Authenticate: a signature is asked for, and no token would help.
    details: { wwwAuthenticate: null },
    // A sender sends again by itself what was rejected: a line a second tells it.
    ...sender === null ? {} : { linesMax: 1 },
  };
}

export const LATE_HANDSHAKE_REJECTION: Rejection = {
  code: 'unauthorized', message: UNVERIFIED_MESSAGE, check: 'handshake',
  finding: 'another handshake has brought a secret meanwhile', details: { wwwAuthenticate: null },
  linesMax: 1,
};

/** For a genuine request that lacks what its sender's requests have. */
export function describeMissingParts(finding: string): Rejection {
  return { code: 'malformed', message: 'Bad request', finding, check: 'parts', linesMax: 1 };
}

/** For a request whose plain body, or form, is too large. */
export function describeExcess(finding: string): Rejection {
  return { code: 'too_large', message: 'Payload too large', check: 'size', finding };
}

export function describeBusy(finding: string): Rejection {
  return {
    code: 'unavailable', message: 'Too many requests in progress', check: 'unavailable', finding,
    details: { retryAfterS: BUSY_RETRY_S },
  };
}

/**
 * For a request that was not stored, or we cannot know: the sender must try again, unless the
 * request never fits.
 */
export function describeUnstored(error: AppError): Rejection {
  const { code, message: finding } = error;
  if (code === 'too_large') {
    return { code, message: 'Too large to be kept', finding, check: 'size' };
  }
  const isFull = code === 'storage_full';
  const isTold = error instanceof SwitchedOffError || error instanceof NeverFitsError;
  const unavailableMessage = isTold ? finding : 'Cannot be accepted now';
  return {
    code: isFull ? code : 'unavailable',
    message: isFull ? 'Storage is full' : unavailableMessage, finding, check: 'unavailable',
    details: { retryAfterS: error.details.retryAfterS ?? FULL_RETRY_S },
  };
}
