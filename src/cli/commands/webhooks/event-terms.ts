/** The options that say of an event what it is about, and when it begins: --key, --at and --in. */
import { AppError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { quote } from '../../../base/text/error-message.ts';
import { DELAY_SECONDS_MAX } from '../../../webhooks/events/event-terms.ts';
import type { CommandContext } from '../command-context.ts';
import { pickDefined } from '../option-members.ts';

const SECONDS_BY_UNIT: ReadonlyMap<string, number> =
  new Map([['s', 1], ['m', 60], ['h', 3600], ['d', 86_400]]);
const DELAY = /^(\d{1,9})([smhd])$/;

export const EVENT_TERMS = ['key', 'at', 'in'] as const;

/** Reads the options as members of a request's body. Throws `usage`. */
export function readEventTerms({ args }: CommandContext): JsonObject {
  const delay = args.find('in');
  if (delay !== undefined && args.has('at')) {
    throw new AppError('usage', '--at and --in exclude one another: say one of the two');
  }
  return pickDefined({
    key: args.find('key'), deliverAt: args.find('at'),
    delaySeconds: delay === undefined ? undefined : parseDelaySeconds(delay),
  });
}

/** Whether the options say that the event begins later. */
export function isDelayed({ args }: CommandContext): boolean {
  return args.has('at') || args.has('in');
}

function parseDelaySeconds(delay: string): number {
  const [, count, unit = ''] = DELAY.exec(delay) ?? [];
  const unitSeconds = SECONDS_BY_UNIT.get(unit);
  if (count === undefined || unitSeconds === undefined) {
    throw new AppError('usage',
      `--in must be a number with s, m, h or d, such as 30s or 2h, not ${quote(delay)}`);
  }
  const seconds = Number(count) * unitSeconds;
  if (seconds <= DELAY_SECONDS_MAX) return seconds;
  throw new AppError('usage', `--in must be within a year (365d), not ${quote(delay)}`);
}
