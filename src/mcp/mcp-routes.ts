/**
 * The two doors of the Model Context Protocol. `POST /mcp` is for programs that speak HTTP, if the
 * setting is on. `POST /api/mcp` is for `hookshelf mcp`: see doors.ts.
 */
import { lazyImport } from '../base/lazy-import.ts';
import type { JsonSchema } from '../base/schema.ts';
import { problemResponses } from '../server/problem.ts';
import type { HttpRoute } from '../server/http-route.ts';
import { MCP_PATH, RELAY_PATH } from './doors.ts';
import type { McpOptions, McpServer } from './mcp-server.ts';

export interface McpDoors {
  readonly routes: readonly HttpRoute[];
  /** Ends the calls that wait; idempotent. */
  close(): void;
}

const JSON_TYPE = 'application/json';
const MESSAGE: JsonSchema = {
  kind: 'json', isObject: true, bytesMax: Infinity, depthMax: Infinity,
};
const loadServer = lazyImport(() => import('./mcp-server.ts'));

export function createMcpDoors(options: McpOptions): McpDoors {
  let server: McpServer | null = null;
  const describe = (path: string, operationId: string, summary: string): HttpRoute => ({
    method: 'POST', path, operationId, summary, access: 'any', bound: { scope: 'read' },
    tool: 'none', isLongLived: true, refusesForeignPages: true, isInternal: path === RELAY_PATH,
    body: { mediaTypes: [JSON_TYPE], schema: MESSAGE },
    responses: [
      {
        status: 200, mediaType: JSON_TYPE, schema: MESSAGE,
        description: 'The response, or its error; as an event stream with progress, if asked for',
      },
      { status: 202, description: 'To a notification' },
      ...problemResponses(400, 404, 413, 415),
    ],
    handle: (exchange) => loadServer(({ McpServer }) => {
      server ??= new McpServer(options);
      return server.serve(exchange);
    }),
  });
  return {
    routes: [
      ...options.isOpen
        ? [describe(MCP_PATH, 'callMcp', 'A message of the Model Context Protocol')] : [],
      describe(RELAY_PATH, 'relayMcp', 'The same, as the command `hookshelf mcp` passes it on'),
    ],
    close: () => server?.close(),
  };
}
