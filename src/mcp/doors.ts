/**
 * The doors by which messages come in: `POST /mcp`, and `POST /api/mcp`, by which `hookshelf mcp`
 * passes on what it reads. The header of that says what its tools may do, at most what the token
 * may, and whether there was an `initialize` before: `scope=read; initialized`.
 */

export const MCP_PATH = '/mcp';
export const RELAY_PATH = '/api/mcp';
export const RELAY_HEADER = 'hookshelf-mcp';
export const RELAY_SCOPES = ['read', 'write', 'admin'] as const;

export type RelayScope = (typeof RELAY_SCOPES)[number];

export function formatRelayHeader(scope: string, isInitialized: boolean): string {
  return `scope=${scope}${isInitialized ? '; initialized' : ''}`;
}

/** null: it is no such header. */
export function parseRelayHeader(
  text: string,
): { readonly scope: RelayScope; readonly isInitialized: boolean } | null {
  const [, name, initialized] = /^scope=(\w+)(; initialized)?$/.exec(text) ?? [];
  const scope = RELAY_SCOPES.find((one) => one === name);
  return scope === undefined ? null : { scope, isInitialized: initialized !== undefined };
}
