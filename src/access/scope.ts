/** Scopes of tokens, and which of them includes which. */
import {
  BOUND_SCOPES, includesBoundScope, type BoundRule, type BoundScope, type Grant,
} from '../server/http-route.ts';

export const SCOPES = ['emit', 'read', 'resend', 'write', 'admin', 'follow'] as const;

export type Scope = (typeof SCOPES)[number];

/**
 * By scope of a token that is not bound to webhooks, the scopes of the routes that it may call. No
 * other scope includes `follow`, which reads the secrets that all others only write. `resend` is of
 * bound tokens alone: `includesBoundScope` says what these include.
 */
const INCLUDED_SCOPES: Readonly<Record<Scope, readonly Scope[]>> = {
  emit: ['emit'],
  read: ['read'],
  resend: [],
  write: ['emit', 'read', 'write'],
  admin: ['emit', 'read', 'write', 'admin'],
  follow: ['follow'],
};

export function includesScope(grantedScope: Scope, requiredScope: Scope | 'any'): boolean {
  if (requiredScope === 'any') return grantedScope !== ALWAYS_REQUIRED;
  return INCLUDED_SCOPES[grantedScope].includes(requiredScope);
}

/** A route asks a token for the scope `access`, and one that is bound for what `bound` says. */
export type TokenRequirement = {
  readonly access: Scope | 'any'; readonly bound?: BoundRule | undefined;
};

/** Whether the holder of a token may call a route that asks for this. */
export function permitsCall(
  { scope, binding }: Pick<Grant, 'scope' | 'binding'>, { access, bound }: TokenRequirement,
): boolean {
  return binding === undefined ? includesScope(scope, access)
    : bound !== undefined && includesBoundScope(scope, bound.scope);
}

/** Whether a token of that scope can be bound to webhooks. */
export function isBoundScope(scope: unknown): scope is BoundScope {
  return BOUND_SCOPES.some((name) => name === scope);
}

/** The scope whose routes need a token even while the API is open to everybody. */
export const ALWAYS_REQUIRED: Scope = 'follow';
