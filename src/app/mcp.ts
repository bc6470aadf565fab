/** Connects the doors of the Model Context Protocol to tokens, routes and the manual. */
import { includesScope } from '../access/scope.ts';
import { includesBoundScope } from '../server/http-route.ts';
import type { Exchange } from '../server/http-route.ts';
import { CHAPTERS } from '../manual/chapters.ts';
import { getChapter, readChapter } from '../manual/read-chapter.ts';
import { createMcpDoors } from '../mcp/mcp-routes.ts';
import type { McpDoors } from '../mcp/mcp-routes.ts';
import type { McpOptions } from '../mcp/mcp-server.ts';
import type { RelayScope } from '../mcp/doors.ts';
import type { ToolCaller } from '../mcp/tool.ts';

export function composeMcp(options: Omit<McpOptions, 'manual' | 'createCaller'>): McpDoors {
  return createMcpDoors({
    ...options, createCaller,
    manual: { chapters: CHAPTERS, read: (name) => readChapter(getChapter(name)) },
  });
}

/** Who calls; with a scope he may do no more than that allows. */
function createCaller({ grant }: Exchange, scope: RelayScope | null): ToolCaller {
  return {
    mayCall({ access, bound }) {
      if (access === 'public') return true;
      if (access === 'control') return false;
      if (scope !== null && !includesScope(scope, access)) return false;
      if (grant === null) return true;
      return grant.binding === undefined ? includesScope(grant.scope, access)
        : bound !== undefined && includesBoundScope(grant.scope, bound.scope);
    },
  };
}
