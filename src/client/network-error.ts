/**
 * The reason why a request got no response. The message says what kind of failure it was, never
 * where the request went, so that anybody may see it: it holds no URL and no credential.
 */
import { systemCodeOf } from '../base/errors.ts';

export const PROXY_AUTHENTICATION_REQUIRED = 407;

export type NetworkErrorKind =
  | 'network' // refused, reset, unknown name, not HTTP, no TLS
  | 'timeout'
  | 'certificate'
  | 'denied' // `denyAddresses`
  | 'proxy' // the proxy could not be reached, refused, or broke the tunnel
  | 'invalid' // a request that cannot be sent: bad URL, bad header
  | 'busy' // too many requests wait for a connection to this host
  | 'canceled'; // by the caller's signal, or by close()

type NetworkErrorDetails = {
  readonly cause?: unknown;
  /** Whether only the proxy is to blame: the target was never asked. */
  readonly isProxyFailure?: boolean;
  readonly proxyStatusCode?: number;
  readonly timeoutMs?: number;
};

export class NetworkError extends Error {
  readonly kind: NetworkErrorKind;
  /** `ETIMEDOUT`, `ECONNREFUSED`, `EPROXY`, `EDENIED`, `CERT_HAS_EXPIRED`, … */
  readonly code: string;
  readonly isProxyFailure: boolean;
  readonly proxyStatusCode: number | null;
  /** The time that ran out; null when none did. */
  readonly timeoutMs: number | null;
  /** The attempts of its call; set by `HttpCall` at the end. */
  attempts = 0;
  /** Whether the last attempt had a connection, so that the target may have the request. */
  wasConnected = false;

  constructor(
    kind: NetworkErrorKind, code: string, message: string, details: NetworkErrorDetails = {},
  ) {
    super(`${message} (${code})`, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'NetworkError';
    this.kind = kind;
    this.code = code;
    this.isProxyFailure = details.isProxyFailure ?? false;
    this.proxyStatusCode = details.proxyStatusCode ?? null;
    this.timeoutMs = details.timeoutMs ?? null;
  }
}

/** The codes of the alert that a server sends to a client without a certificate (RFC 8446 §6.2). */
export const CLIENT_CERTIFICATE_WANTED = /ALERT_CERTIFICATE_REQUIRED$/;

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up for now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EMFILE: 'too many open files',
};

/** The error of the system or of Node.js as a NetworkError, with a message for people. */
export function toNetworkError(thrown: unknown): NetworkError {
  if (thrown instanceof NetworkError) return thrown;
  const code = systemCodeOf(thrown) ?? 'EUNKNOWN';
  const details = { cause: thrown };
  if (code === 'ETIMEDOUT') {
    return new NetworkError('timeout', code, 'the system gave up waiting', details);
  }
  if (code.startsWith('HPE_')) {
    return new NetworkError('network', code, 'the answer is not valid HTTP', details);
  }
  if (CLIENT_CERTIFICATE_WANTED.test(code)) {
    return new NetworkError('network', code, 'the server wants a client certificate', details);
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) {
    return new NetworkError('network', code, 'the TLS handshake failed', details);
  }
  return new NetworkError('network', code, MESSAGES[code] ?? 'the connection failed', details);
}

export function timeoutError(
  what: string, timeoutMs: number, details: NetworkErrorDetails = {},
): NetworkError {
  const message = `${what} took longer than ${Math.round(timeoutMs) / 1000} s`;
  return new NetworkError('timeout', 'ETIMEDOUT', message, { ...details, timeoutMs });
}

export function deniedError(): NetworkError {
  const message = 'the address is on the list of denied addresses (http.denyAddresses)';
  return new NetworkError('denied', 'EDENIED', message);
}

export function invalidError(message: string): NetworkError {
  return new NetworkError('invalid', 'EINVAL', message);
}

export function canceledError(message: string, cause?: unknown): NetworkError {
  return new NetworkError('canceled', 'ECANCELED', message, { cause });
}

export function closedError(): NetworkError {
  return canceledError('the client was closed');
}

/**
 * The error of a step that only the proxy had a part in. A certificate stays a certificate's error,
 * and says that it is the proxy's; other NetworkErrors stay as they are.
 */
export function proxyError(thrown: unknown): NetworkError {
  if (thrown instanceof NetworkError) {
    if (thrown.kind !== 'certificate') return thrown;
    const details = { cause: thrown.cause, isProxyFailure: true };
    const message = 'the certificate of the proxy was refused';
    return new NetworkError('certificate', thrown.code, message, details);
  }
  const message = `the proxy failed: ${toNetworkError(thrown).message}`;
  return new NetworkError('proxy', 'EPROXY', message, { cause: thrown, isProxyFailure: true });
}

/**
 * The error when the proxy hangs up instead of opening a tunnel. Many proxies do so when they
 * cannot reach the target, so the proxy alone is not to blame.
 */
export function proxyCutError(thrown: unknown): NetworkError {
  const message = 'the proxy cut the connection and gave no answer';
  return new NetworkError('proxy', 'EPROXY', message, { cause: thrown });
}

/** The error when the proxy responds with a status instead of doing what it was asked for. */
export function proxyRefusedError(statusCode: number): NetworkError {
  // Another status may be about the target, to which the proxy cannot or will not connect.
  const isProxyFailure = [PROXY_AUTHENTICATION_REQUIRED, 429].includes(statusCode);
  const hint = statusCode === PROXY_AUTHENTICATION_REQUIRED
    ? ': it wants credentials, or others than http.proxy has' : '';
  const message = `the proxy refused with status ${statusCode}${hint}`;
  return new NetworkError(
    'proxy', 'EPROXY', message, { isProxyFailure, proxyStatusCode: statusCode });
}
