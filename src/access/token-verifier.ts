/** Bearer tokens: who may do what. Tokens kept elsewhere plug in as another `TokenVerifier`. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import { loadCrypto } from '../base/node-modules.ts';
import type { Exchange } from '../server/http-route.ts';
import { includesScope, type Scope } from './scope.ts';

export interface TokenVerifier {
  /** Whether a token is needed. Stays true once a token has existed. */
  readonly isRequired: boolean;
  /** What a token is good for; null when it is unknown, revoked or expired. */
  verify(token: string): Scope | null;
}

/** Tokens from the settings; each may do everything. Compared in constant time. */
export function createFixedVerifier(tokens: readonly string[]): TokenVerifier {
  const digests = tokens.map(computeDigest);
  return {
    isRequired: tokens.length > 0,
    verify(token) {
      const digest = computeDigest(token);
      const { timingSafeEqual } = loadCrypto();
      let isMatch = false;
      // Every one is compared, so that the time does not tell which was right.
      for (const expected of digests) isMatch = timingSafeEqual(expected, digest) || isMatch;
      return isMatch ? 'admin' : null;
    },
  };
}

/** A token that any of the verifiers knows is good; one is needed when any of them needs it. */
export function combineVerifiers(...verifiers: readonly TokenVerifier[]): TokenVerifier {
  return {
    get isRequired() {
      return verifiers.some((verifier) => verifier.isRequired);
    },
    verify(token) {
      const scopes = verifiers.map((verifier) => verifier.verify(token));
      return scopes.find((scope) => scope !== null) ?? null;
    },
  };
}

/** Throws `unauthorized` without a good token, `forbidden` when its scope is too small. */
export function checkToken(
  request: IncomingMessage, verifier: TokenVerifier, requiredScope: Scope,
): void {
  // Another scheme counts as none (RFC 6750 §3.1).
  if (!/^bearer /i.test(request.headers.authorization ?? '')) {
    throw new AppError('unauthorized', 'send `Authorization: Bearer <token>`');
  }
  const scope = findCallerScope(request, verifier);
  if (scope === null) {
    throw new AppError('unauthorized', 'the token is not valid here', {
      challenge: 'Bearer error="invalid_token"',
    });
  }
  if (!includesScope(scope, requiredScope)) {
    throw new AppError('forbidden', `this needs a token of scope ${requiredScope}, not ${scope}`, {
      challenge: `Bearer error="insufficient_scope", scope="${requiredScope}"`,
    });
  }
}

/**
 * What a caller may do now, who may have been let in long ago; null: nothing any more. Who can open
 * the control socket may do everything.
 */
export function findCurrentScope(
  { isControl, request }: Pick<Exchange, 'isControl' | 'request'>, verifier: TokenVerifier,
): Scope | null {
  return isControl || !verifier.isRequired ? 'admin' : findCallerScope(request, verifier);
}

/** What the caller's token is good for; null without a good one. */
function findCallerScope(
  { headers: { authorization = '' } }: IncomingMessage, verifier: TokenVerifier,
): Scope | null {
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  return token === undefined ? null : verifier.verify(token);
}

// Digests have one length, which is what a comparison in constant time needs.
function computeDigest(token: string): Buffer {
  return loadCrypto().createHash('sha256').update(token).digest();
}
