/**
 * Makes commands of the `commands` in the rows of routes: they do no more than call the route. The
 * parameter of its path is their operand, `<id>`.
 */
import { assert } from '../../base/assert.ts';
import type { RouteDescription } from '../../server/http-route.ts';
import { VALUE_KINDS, recordOption } from '../arguments/option-spec.ts';
import type { OptionSpecs } from '../arguments/option-spec.ts';
import type { CommandCall } from './call-route.ts';
import type { CommandSpec } from './command-context.ts';
import { lazyCall } from './lazy-commands.ts';

/** A command as data, without what loads its code. */
type CommandRow = Omit<CommandSpec, 'load'> & { readonly call: CommandCall };

/** Describes the commands that the routes have. */
export function describeCommands(
  rows: readonly RouteDescription[],
): readonly CommandRow[] {
  return rows.flatMap(({ method, path, summary, commands = [] }) => commands.map((command) => {
    const { name, summary: ownSummary = summary, ...call } = command;
    const options = operandOf(path);
    const operand = options['identifier'] === undefined ? '' : ' <id>';
    assert(method !== 'ANY', `${name} calls a route of any method`);
    return {
      name, summary: ownSummary, options, examples: [`hookshelf ${name}${operand}`],
      call: { method, path, ...call },
    };
  }));
}

/** The commands with those of routes, each at the end of its group, such as `delivery`. */
export function withRouteCommands(
  commands: readonly CommandSpec[], rows: readonly CommandRow[],
): readonly CommandSpec[] {
  const lastOfGroup = new Map(commands.map((command) => [groupOf(command), command]));
  return commands.flatMap((command) => lastOfGroup.get(groupOf(command)) !== command ? [command]
    : [command, ...rows.filter((row) => groupOf(row) === groupOf(command)).map(toCommand)]);
}

function groupOf({ name }: { readonly name: string }): string {
  return name.replace(/:.*/, '');
}

function toCommand({ call, ...row }: CommandRow): CommandSpec {
  return { ...row, load: lazyCall(call) };
}

function operandOf(path: string): OptionSpecs {
  const [collection = '', parameter] = path.split('/{', 2);
  if (parameter === undefined) return {};
  const kind = VALUE_KINDS.find((one) => collection.endsWith(`/${one}`));
  assert(kind !== undefined, `the collection of ${path} is not in VALUE_KINDS`);
  return recordOption(kind);
}
