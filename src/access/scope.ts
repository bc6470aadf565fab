/** Scopes of tokens, and which of them includes which. */
import type { Access } from '../server/http-route.ts';

export const SCOPES = ['emit', 'read', 'write', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

/** By scope of a token, the scopes of the routes that it may call. */
const INCLUDED_SCOPES: Readonly<Record<Scope, readonly Scope[]>> = {
  emit: ['emit'],
  read: ['read'],
  write: ['emit', 'read', 'write'],
  admin: ['emit', 'read', 'write', 'admin'],
};

export function includesScope(grantedScope: Scope, requiredScope: Scope): boolean {
  return INCLUDED_SCOPES[grantedScope].includes(requiredScope);
}

/** The scope that a route asks for; null where none is needed. */
export function getRequiredScope(access: Access): Scope | null {
  // The control socket alone has the `control` routes, and its callers may call everything.
  return access === 'public' || access === 'control' ? null : access;
}
