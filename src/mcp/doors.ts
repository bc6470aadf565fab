/**
 * The two endpoints for messages. `POST /mcp` is for all programs; by `POST /api/mcp` the command
 * `hookshelf mcp` passes on the messages that it reads from stdin. The header of the second says
 * what the tools may do, besides the limits of the token, and whether an `initialize` came before:
 * `scope=read; initialized`.
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
