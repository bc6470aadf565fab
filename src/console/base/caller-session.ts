/** The user's token, stored for this tab only, its scope, and whether the server is reachable. */

export type CallerScope = 'read' | 'write' | 'admin';

const TOKEN_KEY = 'hookshelf-token';
const RANKS: readonly CallerScope[] = ['read', 'write', 'admin'];

class CallerSession {
  /** null: the user has given no token; a server on loopback may need none. */
  token: string | null = sessionStorage.getItem(TOKEN_KEY);
  scope: CallerScope = 'read';
  isOnline = true;
  /** Called when a token is needed. */
  onRefused: () => void = () => {};
  /** Called when the server becomes unreachable, and when it is reached again. */
  onConnectionChange: (isOnline: boolean) => void = () => {};

  may(scope: CallerScope): boolean {
    return RANKS.indexOf(this.scope) >= RANKS.indexOf(scope);
  }

  signIn(token: string): void {
    this.token = token;
    sessionStorage.setItem(TOKEN_KEY, token);
  }

  signOut(): void {
    this.token = null;
    sessionStorage.removeItem(TOKEN_KEY);
  }

  notifyRefused(): void {
    this.onRefused();
  }

  setOffline(): void {
    if (!this.isOnline) return;
    this.isOnline = false;
    this.onConnectionChange(false);
  }

  setOnline(): void {
    if (this.isOnline) return;
    this.isOnline = true;
    this.onConnectionChange(true);
  }
}

export const callerSession = new CallerSession();
