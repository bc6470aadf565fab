/** Runs a command that does no more than call a route: see route-command.ts. */
import type { Method, RouteCommand } from '../../server/http-route.ts';
import type { CommandContext } from './command-context.ts';
import { expectObject, resolveId } from './resource-commands.ts';

/** The route that a command calls, and how its answer is shown. */
export type CommandCall = Pick<RouteCommand, 'body' | 'done' | 'result' | 'successMember'> & {
  readonly method: Method;
  readonly path: string;
};

const PARAMETER = /\/\{(\w+)\}/;

export async function callRoute(
  context: CommandContext, { method, path, body, done, result, successMember }: CommandCall,
): Promise<number> {
  const { output } = context;
  const [, key = ''] = PARAMETER.exec(path) ?? [];
  const id = key === '' ? '' : await resolveId(context, toCollection(path));
  const client = await context.openApiClient();
  const response = await client.request({
    method, path: path.replace(PARAMETER, `/${encodeURIComponent(id)}`),
    ...body === undefined ? {} : { body },
    ...method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {},
  });
  const answer = result === undefined ? expectObject(response.body) : { [key]: id, ...result };
  if (done === undefined) await output.object(answer);
  else await output.result(answer, done.replace('{id}', id));
  return successMember !== undefined && answer[successMember] === false ? 1 : 0;
}

/** The collection of the record that a path names. */
function toCollection(
  path: string,
): { readonly path: string; readonly noun: string; readonly plural: string } {
  const [collection = ''] = path.split('/{', 1);
  const plural = collection.slice(collection.lastIndexOf('/') + 1).replaceAll('-', ' ');
  return { path: collection, noun: plural.replace(/s$/, ''), plural };
}
