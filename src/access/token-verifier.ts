/** Verifies bearer tokens. Stored tokens are another `TokenVerifier` (tokens.ts). */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import { loadCrypto } from '../base/node-modules.ts';
import { boundTokenError } from '../server/problem.ts';
import type { Exchange, Grant } from '../server/http-route.ts';
import {
  ALWAYS_REQUIRED, includesScope, permitsCall, type Scope, type TokenRequirement,
} from './scope.ts';

export interface TokenVerifier {
  /**
   * Whether callers need a token. Once a token has existed it stays true, unless the API opens
   * again to anonymous callers. Every request reads it: mostly it is a plain field.
   */
  readonly isRequired: boolean;
  /** Finds the grant of a token's holder; null when the token is unknown, revoked or expired. */
  verify(token: string): Grant | null;
}

const CONFIGURED_GRANT: Grant = { scope: 'admin', name: 'server.apiToken' };

/** Verifies the tokens of the settings, in constant time. Each has the scope admin. */
export function createFixedVerifier(tokens: readonly string[]): TokenVerifier {
  const digests = tokens.map(computeDigest);
  return {
    isRequired: tokens.length > 0,
    verify(token) {
      const digest = computeDigest(token);
      const { timingSafeEqual } = loadCrypto();
      let isMatch = false;
      // All are compared, so that the time does not tell which one matches.
      for (const expectedDigest of digests) {
        isMatch = timingSafeEqual(expectedDigest, digest) || isMatch;
      }
      return isMatch ? CONFIGURED_GRANT : null;
    },
  };
}

/** Accepts tokens that any verifier accepts; requires one when any verifier does. */
export function combineVerifiers(...verifiers: readonly TokenVerifier[]): TokenVerifier {
  return {
    get isRequired() {
      return verifiers.some((verifier) => verifier.isRequired);
    },
    verify(token) {
      const grants = verifiers.map((verifier) => verifier.verify(token));
      return grants.find((grant) => grant !== null) ?? null;
    },
  };
}

/** The rights of the caller's token. Throws `unauthorized` without a valid one. */
export function getGrant(request: IncomingMessage, verifier: TokenVerifier): Grant {
  // Credentials of another scheme count as none (RFC 6750 §3.1).
  const { authorization = '' } = request.headers;
  if (!/^bearer /i.test(authorization)) {
    const problem = /^(?:bearer)?$/i.test(authorization) ? ''
      : 'the Authorization header has no `Bearer` before the token: ';
    throw new AppError('unauthorized', `${problem}send \`Authorization: Bearer <token>\``);
  }
  const grant = findCallerGrant(request, verifier);
  if (grant === null) {
    throw new AppError('unauthorized', 'the token is not valid here', {
      wwwAuthenticate: 'Bearer error="invalid_token"',
    });
  }
  return grant;
}

/**
 * Throws `forbidden` when the scope of the grant is too small, or when it is bound to webhooks and
 * the route is not for such tokens.
 */
export function checkPermission(grant: Grant, requirement: TokenRequirement): void {
  if (!permitsCall(grant, requirement)) throw createScopeError(grant, requirement);
}

/** Tells a bound token the same of routes that there are, and of those that there are not. */
function createScopeError(
  { scope, binding }: Grant, { access, bound }: TokenRequirement,
): AppError {
  const requiredScope = binding === undefined ? access : bound?.scope;
  if (requiredScope === undefined) return boundTokenError();
  return new AppError('forbidden',
    `this needs a token of scope ${describeScope(requiredScope)}, not ${scope}`,
    { wwwAuthenticate: `Bearer error="insufficient_scope", scope="${requiredScope}"` });
}

/** Few know the scope that is for emitting alone. */
function describeScope(scope: Scope | 'any'): string {
  if (scope === 'any') return `other than ${ALWAYS_REQUIRED}`;
  return scope === 'emit' ? 'emit or write' : scope;
}

/**
 * Checks a caller whose query needs a greater scope than its route does. Throws `unauthorized` and
 * `forbidden`; callers on the control socket, and all while no token is required, have every scope.
 */
export function checkCurrentScope(
  { isControl, request }: Pick<Exchange, 'isControl' | 'request'>, verifier: TokenVerifier,
  requiredScope: Scope,
): void {
  if (isControl || !verifier.isRequired) return;
  checkPermission(getGrant(request, verifier), { access: requiredScope });
}

/**
 * Whether a caller may still call the route that has let him in, which asks for `requiredScope`,
 * perhaps long after his request began.
 */
export function hasScope(
  { isControl, request }: Pick<Exchange, 'isControl' | 'request'>, verifier: TokenVerifier,
  requiredScope: Scope,
): boolean {
  if (isControl || (!verifier.isRequired && requiredScope !== ALWAYS_REQUIRED)) return true;
  const grant = findCallerGrant(request, verifier);
  if (grant === null) return false;
  // The scope and the binding of a token never change.
  return grant.binding !== undefined || includesScope(grant.scope, requiredScope);
}

/** The rights of the caller's token; null without a valid one. */
function findCallerGrant(
  { headers: { authorization = '' } }: IncomingMessage, verifier: TokenVerifier,
): Grant | null {
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  return token === undefined ? null : verifier.verify(token);
}

// A comparison in constant time needs values of one length.
function computeDigest(token: string): Buffer {
  return loadCrypto().createHash('sha256').update(token).digest();
}
