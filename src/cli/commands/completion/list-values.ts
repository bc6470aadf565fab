/** `completion:values`: the values of an option or operand, for the completion scripts. */
import { fetchPage, formatValue } from '../resource-commands.ts';
import type { CommandContext } from '../command-context.ts';
import { VALUE_KINDS } from '../../arguments/option-spec.ts';
import type { ValueKind } from '../../arguments/option-spec.ts';

/** The path that lists each kind of value, and the members that hold the values. */
const KINDS: Readonly<Record<ValueKind, readonly [path: string, ...members: readonly string[]]>> = {
  'actions': ['/api/actions', 'identifier'],
  'action-configurations': ['/api/action-configurations', 'identifier'],
  'books': ['/api/books', 'id'],
  'deliveries': ['/api/deliveries', 'identifier'],
  // There may be a hundred thousand events and requests; people look for the newest.
  'events': ['/api/events?limit=100', 'id'],
  'incoming-webhooks': ['/api/incoming-webhooks', 'name', 'pathSegment', 'identifier'],
  'jobs': ['/api/jobs', 'id'],
  'outgoing-webhooks': ['/api/outgoing-webhooks', 'name', 'identifier'],
  'presets': ['/api/verification-presets', 'name'],
  'requests': ['/api/requests?limit=100', 'id'],
  'tokens': ['/control/tokens', 'identifier'],
};

/**
 * The values that every shell reads as one plain word. A server elsewhere may send others: bash
 * puts a value on the command line as it is, and `$(…)` in one would run with it.
 */
const PLAIN_WORD = /^[A-Za-z0-9_][A-Za-z0-9._:@%+,/~-]*$/;

/** Prints the values of the first page that are plain words, one a line. */
export async function listValues(context: CommandContext): Promise<number> {
  const { args, output } = context;
  const kind = VALUE_KINDS.find((name) => name === args.operand) ?? 'books';
  const [path, ...members] = KINDS[kind];
  const rows = await fetchPage(await context.openApiClient(), path);
  // A webhook may have no name, or one that is its path segment too.
  const values = rows.flatMap((row) => [...new Set(members.flatMap((member) => {
    const value = row[member];
    return value === undefined || value === null ? [] : [formatValue(value)];
  }))]).filter((value) => PLAIN_WORD.test(value));
  if (output.isJson) await output.json(values);
  else for (const value of values) await output.line(value);
  return 0;
}
