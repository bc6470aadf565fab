/** Reads the options of outgoing webhooks that say how its deliveries are attempted. */
import type { JsonValue } from '../../../base/schema.ts';
import type { CommandContext } from '../command-context.ts';
import { readJsonOption } from '../option-input.ts';

/** Reads `--retry-on`: `none`, statuses and classes with commas between them, or a JSON array. */
export async function readRetryOn(context: CommandContext): Promise<JsonValue | undefined> {
  const text = context.args.find('retry-on');
  if (text === undefined) return undefined;
  if (text === 'none') return [];
  if (text.startsWith('[')) {
    const { value } = await readJsonOption(context, 'retry-on', { inlineSecrets: 'accepted' });
    if (Array.isArray(value)) return value;
  }
  return text.split(',').map((item) => item.trim())
    .map((item) => WHOLE_NUMBER.test(item) ? Number(item) : item);
}

const WHOLE_NUMBER = /^\d{1,15}$/;
