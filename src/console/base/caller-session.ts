/**
 * The user's token, stored for this tab only, what it is for, and whether the server is reachable.
 * A token that is bound to some webhooks is a customer's: its scopes mean something else.
 */
import type { ResponseBodyOf } from '../../app/api-types.ts';

export type CallerScope = 'read' | 'write' | 'admin';
export type CustomerScope = 'read' | 'resend' | 'write';
type CallerAccess = ResponseBodyOf<'GET', '/api/access'>;

const TOKEN_KEY = 'hookshelf-token';
const SCOPES: readonly string[] = ['read', 'write', 'admin'] satisfies CallerScope[];
const CUSTOMER_SCOPES: readonly string[] = ['read', 'resend', 'write'] satisfies CustomerScope[];

class CallerSession {
  /** null: the user has given no token; a server on loopback may need none. */
  token: string | null = sessionStorage.getItem(TOKEN_KEY);
  access: CallerAccess = { scope: 'read', name: null };
  isOnline = true;
  /** Called when a token is needed. */
  onRefused: () => void = () => {};
  /** Called when the server becomes unreachable, and when it is reached again. */
  onConnectionChange: (isOnline: boolean) => void = () => {};

  /** A customer sees some webhooks alone. */
  get isCustomer(): boolean {
    return this.access.webhooks !== undefined;
  }

  /** Whether the user may do what takes `scope`; a customer, what takes `customerScope`, if any. */
  may(scope: CallerScope, customerScope: CustomerScope | null = null): boolean {
    const [scopes, least] = this.isCustomer ? [CUSTOMER_SCOPES, customerScope] : [SCOPES, scope];
    return least !== null && scopes.indexOf(this.access.scope) >= scopes.indexOf(least);
  }

  signIn(token: string): void {
    this.token = token;
    sessionStorage.setItem(TOKEN_KEY, token);
  }

  signOut(): void {
    this.token = null;
    sessionStorage.removeItem(TOKEN_KEY);
  }

  setOnline(isOnline: boolean): void {
    if (this.isOnline === isOnline) return;
    this.isOnline = isOnline;
    this.onConnectionChange(isOnline);
  }
}

export const callerSession = new CallerSession();
