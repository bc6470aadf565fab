/** `event:watch`: prints a line for each event as it is made. */
import { AppError } from '../../../../base/errors.ts';
import { NAME_PATTERN_RULE, createNameTest } from '../../../../base/event-name.ts';
import type { JsonObject } from '../../../../base/schema.ts';
import { quote } from '../../../../base/text/error-message.ts';
import { formatPrintableJson } from '../../../terminal/output.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatValue } from '../../resource-commands.ts';
import { followStream, formatLocalTime, requireServer } from './follow-stream.ts';

/** Ends only by a signal, or once nobody reads what it prints. */
export async function watchEvents(context: CommandContext): Promise<void> {
  const { args, output } = context;
  const isNamed = parseNamePattern(args.find('name'));
  await requireServer(context);
  await followStream(context, {
    path: '/api/stream?topics=events', plural: 'events', listCommand: 'event:list',
    startNote: 'events are printed as they are made; Ctrl-C ends this',
    async handle({ change: _, ...event }) {
      if (!isNamed(formatValue(event['name']))) return;
      if (output.isJson) await output.write(`${formatPrintableJson(event)}\n`);
      else await output.line(formatEvent(event));
    },
  });
}

/** Throws `usage`. */
function parseNamePattern(pattern = '*'): (name: string) => boolean {
  const isNamed = createNameTest(pattern);
  if (isNamed !== null) return isNamed;
  throw new AppError('usage', `--name must be ${NAME_PATTERN_RULE}, not ${quote(pattern)}`);
}

function formatEvent({ createdAt, name, source, key, heard, id }: JsonObject): string {
  const cells = [
    formatLocalTime(formatValue(createdAt)), name, source, ...typeof key === 'string' ? [key] : [],
    heard === true ? 'heard' : 'not heard', id,
  ];
  return cells.map(formatValue).join('  ');
}
