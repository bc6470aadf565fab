/**
 * The `load` of commands that need nothing but the description of their resource. The table of
 * commands must load fast: a description is loaded only when its command runs.
 */
import type { ListedResource, Resource } from '../../resources/resource.ts';
import type { CommandRun } from './command-context.ts';

type Load<Loaded> = () => Promise<Loaded>;

/** For `<resource>:list`. */
export function lazyListCommand(loadResource: Load<ListedResource>): Load<CommandRun> {
  return async () => {
    const [{ listRecords }, resource] =
      await Promise.all([import('./resource-commands.ts'), loadResource()]);
    return (context) => listRecords(context, resource);
  };
}

/** For `<resource>:show`. */
export function lazyShowCommand(loadResource: Load<ListedResource>): Load<CommandRun> {
  return async () => {
    const [{ showRecord }, resource] =
      await Promise.all([import('./resource-commands.ts'), loadResource()]);
    return (context) => showRecord(context, resource);
  };
}

/** For `<resource>:delete`. */
export function lazyDeleteCommand(loadResource: Load<Resource>): Load<CommandRun> {
  return async () => {
    const [{ deleteRecord }, resource] =
      await Promise.all([import('./resource-commands.ts'), loadResource()]);
    return (context) => deleteRecord(context, resource);
  };
}
