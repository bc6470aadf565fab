/** The `load` of rows whose commands need no code of their own. */
import type { ListedResource } from '../../resources/resource.ts';
import type { CommandCall } from './call-route.ts';
import type { CommandRun } from './command-context.ts';

/** For a list of records, such as `job:list`. */
export function lazyList(loadResource: () => Promise<ListedResource>): () => Promise<CommandRun> {
  return async () => {
    const [{ listRecords }, resource] =
      await Promise.all([import('./resource-commands.ts'), loadResource()]);
    return (context) => listRecords(context, resource);
  };
}

/** For one call of a route, whose answer is shown. */
export function lazyCall(call: CommandCall): () => Promise<CommandRun> {
  return async () => {
    const { callRoute } = await import('./call-route.ts');
    return (context) => callRoute(context, call);
  };
}
