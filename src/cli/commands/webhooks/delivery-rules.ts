/** Reads the options of outgoing webhooks that say how its deliveries are attempted. */
import { AppError } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
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

/** Reads `--rate`: attempts and seconds, such as 100/60, or JSON. Throws `usage`. */
export async function readRate(context: CommandContext): Promise<JsonValue | undefined> {
  const text = context.args.find('rate');
  if (text === undefined) return undefined;
  if (text.startsWith('{')) {
    const { value } = await readJsonOption(context, 'rate', { inlineSecrets: 'accepted' });
    if (isJsonObject(value)) return value;
  }
  const [limit = '', seconds = '', ...others] = text.split('/').map((part) => part.trim());
  if (WHOLE_NUMBER.test(limit) && WHOLE_NUMBER.test(seconds) && others.length === 0) {
    return { limit: Number(limit), seconds: Number(seconds) };
  }
  throw new AppError('usage', '--rate must be attempts/seconds, such as 100/60 for a hundred a '
    + `minute, not ${JSON.stringify(text)}`);
}

const WHOLE_NUMBER = /^\d{1,15}$/;
