/**
 * The doors of the Model Context Protocol, connected to tokens, routes and the manual. `POST /mcp`
 * is for programs that speak HTTP, if the setting is on; mcp/doors.ts tells of the other door.
 */
import { includesScope, permitsCall } from '../access/scope.ts';
import { AppError } from '../base/errors.ts';
import { lazyImport } from '../base/lazy-import.ts';
import { CHAPTERS } from '../manual/chapters.ts';
import { getChapter, readChapter } from '../manual/read-chapter.ts';
import { MCP_PATH, RELAY_PATH } from '../mcp/doors.ts';
import type { RelayScope } from '../mcp/doors.ts';
import type { McpOptions, McpServer } from '../mcp/mcp-server.ts';
import type { ToolCaller } from '../mcp/tool.ts';
import { JSON_OBJECT, JSON_TYPE } from '../resources/route-specs.ts';
import type { Exchange, HttpRoute } from '../server/http-route.ts';
import { problemResponses } from '../server/problem.ts';

export interface McpDoors {
  readonly routes: readonly HttpRoute[];
  /** Ends the calls that wait; idempotent. */
  close(): void;
}

const SHUT_DOOR: HttpRoute = {
  method: 'ANY', path: MCP_PATH, operationId: 'refuseMcp', access: 'any',
  bound: { scope: 'read' }, summary: 'Says how the door is opened', tool: 'none', isInternal: true,
  responses: problemResponses(404),
  handle() {
    throw new AppError('not_found', `there is nothing at ${MCP_PATH}: the setting server.mcp `
      + '(HOOKSHELF_SERVER_MCP=true) opens it');
  },
};

const loadServer = lazyImport(() => import('../mcp/mcp-server.ts'));

/** `isOpen`: `POST /mcp` is there. */
export function composeMcp(
  isOpen: boolean, options: Omit<McpOptions, 'manual' | 'createCaller'>,
): McpDoors {
  let server: McpServer | null = null;
  const manual = {
    chapters: CHAPTERS, read: (name: string): string => readChapter(getChapter(name)),
  };
  const describe = (path: string, operationId: string, summary: string): HttpRoute => ({
    method: 'POST', path, operationId, summary, access: 'any', bound: { scope: 'read' },
    tool: 'none', isLongLived: true, refusesForeignPages: true, passesOnCalls: true,
    isInternal: path === RELAY_PATH,
    body: { mediaTypes: [JSON_TYPE], schema: JSON_OBJECT },
    responses: [
      {
        status: 200, mediaType: JSON_TYPE, schema: JSON_OBJECT,
        description: 'The response, or its error; as an event stream with progress, if asked for',
      },
      { status: 202, description: 'To a notification' },
      ...[400, 404].map((status) => ({
        status, mediaType: JSON_TYPE, schema: JSON_OBJECT, description: 'An error of the protocol',
      })),
      ...problemResponses(413, 415),
    ],
    handle: (exchange) => loadServer(({ McpServer }) => {
      server ??= new McpServer({ ...options, manual, createCaller });
      return server.serve(exchange);
    }),
  });
  return {
    routes: [
      isOpen ? describe(MCP_PATH, 'callMcp', 'A message of the Model Context Protocol')
        : SHUT_DOOR,
      describe(RELAY_PATH, 'relayMcp', 'The same, as the command `hookshelf mcp` passes it on'),
    ],
    close: () => server?.close(),
  };
}

/** Makes the caller of tools. With a scope, he may call no more than it allows. */
function createCaller({ grant }: Exchange, scope: RelayScope | null): ToolCaller {
  return {
    mayCall({ access, bound }) {
      if (access === 'public') return true;
      if (access === 'control') return false;
      if (scope !== null && !includesScope(scope, access)) return false;
      return grant === null || permitsCall(grant, { access, bound });
    },
    describeNeed({ access, bound }) {
      if (grant?.binding === undefined) return `the scope ${access}`;
      return bound === undefined ? 'a token that is not bound to webhooks'
        : `the scope ${bound.scope}`;
    },
  };
}
