/**
 * Commands that do no more than call a route: they follow from the `commands` of its row. The
 * record that the path names is their operand.
 */
import { assert } from '../../base/assert.ts';
import type { RouteRow } from '../../server/http-route.ts';
import { VALUE_KINDS, recordOption } from '../arguments/option-spec.ts';
import type { OptionSpecs } from '../arguments/option-spec.ts';
import type { CommandCall } from './call-route.ts';
import type { CommandSpec } from './command-context.ts';

/** A command as data, without what loads its code. */
type CommandRow = Omit<CommandSpec, 'load'> & { readonly call: CommandCall };

/** Describes the commands that the routes have. */
export function describeCommands(
  rows: readonly Omit<RouteRow<never>, 'handle'>[],
): readonly CommandRow[] {
  return rows.flatMap(({ method, path, summary, commands = [] }) => commands.map((command) => {
    const { name, summary: ownSummary = summary, ...call } = command;
    const options = recordOptions(path);
    const operand = 'identifier' in options ? ' <id>' : '';
    assert(method !== 'ANY', `${name} calls a route of any method`);
    return {
      name, summary: ownSummary, options, examples: [`hookshelf ${name}${operand}`],
      call: { method, path, ...call },
    };
  }));
}

/** The commands of a group, such as `delivery`. */
export function listCommands(rows: readonly CommandRow[], group: string): readonly CommandSpec[] {
  return rows.filter(({ name }) => name.startsWith(`${group}:`)).map(({ call, ...row }) => ({
    ...row,
    load: async () => {
      const { callRoute } = await import('./call-route.ts');
      return (context) => callRoute(context, call);
    },
  }));
}

function recordOptions(path: string): OptionSpecs {
  const [, collection] = /([^/]+)\/\{/.exec(path) ?? [];
  const kind = VALUE_KINDS.find((one) => one === collection);
  return kind === undefined ? {} : recordOption(kind);
}
