/**
 * The `load` of commands that need nothing but the description of their resource. The table of
 * commands must load fast: a description is loaded only when its command runs.
 */
import type { ListedResource, Resource } from '../../resources/resource.ts';
import type { CommandContext, CommandRun } from './command-context.ts';

type ResourceCommands = typeof import('./resource-commands.ts');
type ResourceCommand<Described> = (context: CommandContext, resource: Described) => Promise<void>;

/** For `<resource>:list`. */
export const lazyListCommand = createLazyCommand<ListedResource>(({ listRecords }) => listRecords);
/** For `<resource>:show`. */
export const lazyShowCommand = createLazyCommand<ListedResource>(({ showRecord }) => showRecord);
/** For `<resource>:delete`. */
export const lazyDeleteCommand = createLazyCommand<Resource>(({ deleteRecord }) => deleteRecord);

function createLazyCommand<Described>(
  choose: (commands: ResourceCommands) => ResourceCommand<Described>,
): (loadResource: () => Promise<Described>) => () => Promise<CommandRun> {
  return (loadResource) => async () => {
    const [commands, resource] =
      await Promise.all([import('./resource-commands.ts'), loadResource()]);
    const run = choose(commands);
    return (context) => run(context, resource);
  };
}
