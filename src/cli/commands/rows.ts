/**
 * What the rows of a resource load for the commands that its description is enough for. A table of
 * commands must load fast: the description is loaded with the command alone.
 */
import type { ListedResource, Resource } from '../../resources/resource.ts';
import type { CommandRun } from './context.ts';

type Load<Loaded> = () => Promise<Loaded>;

/** For `<resource>:list`. */
export function listOf(load: Load<ListedResource>): Load<CommandRun> {
  return async () => {
    const [{ list }, resource] = await Promise.all([import('./resource.ts'), load()]);
    return (context) => list(context, resource);
  };
}

/** For `<resource>:show`. */
export function showOf(load: Load<ListedResource>): Load<CommandRun> {
  return async () => {
    const [{ show }, resource] = await Promise.all([import('./resource.ts'), load()]);
    return (context) => show(context, resource);
  };
}

/** For `<resource>:delete`. */
export function deleteOf(load: Load<Resource>): Load<CommandRun> {
  return async () => {
    const [{ remove }, resource] = await Promise.all([import('./resource.ts'), load()]);
    return (context) => remove(context, resource);
  };
}
