/** Scopes of tokens: read, write, admin. */
import type { Access } from '../server/http-route.ts';

/** Each scope includes those before it. */
export const SCOPES = ['read', 'write', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

export function includesScope(grantedScope: Scope, requiredScope: Scope): boolean {
  return SCOPES.indexOf(grantedScope) >= SCOPES.indexOf(requiredScope);
}

/** The scope that a route asks for; null where none is needed. */
export function getRequiredScope(access: Access): Scope | null {
  // The control socket alone has the `control` routes, and its callers may call everything.
  return access === 'public' || access === 'control' ? null : access;
}
