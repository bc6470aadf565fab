/** Scopes of tokens, and which of them includes which. */

export const SCOPES = ['emit', 'read', 'write', 'admin', 'follow'] as const;

export type Scope = (typeof SCOPES)[number];

/**
 * By scope of a token, the scopes of the routes that it may call. No other scope includes `follow`,
 * which reads the secrets that all others only write.
 */
const INCLUDED_SCOPES: Readonly<Record<Scope, readonly Scope[]>> = {
  emit: ['emit'],
  read: ['read'],
  write: ['emit', 'read', 'write'],
  admin: ['emit', 'read', 'write', 'admin'],
  follow: ['follow'],
};

export function includesScope(grantedScope: Scope, requiredScope: Scope): boolean {
  return INCLUDED_SCOPES[grantedScope].includes(requiredScope);
}

/** The scope whose routes need a token even while the API is open to everybody. */
export const ALWAYS_REQUIRED: Scope = 'follow';
