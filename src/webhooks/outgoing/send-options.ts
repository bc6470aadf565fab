/** Options for sending a webhook at once: over the API, by a command, or from a program. */
import { AppError } from '../../base/errors.ts';
import type { MemberSchema } from '../../base/schema.ts';

export type SendOptions = {
  /** Further requests after a network error or a transient status; 0 by default. */
  readonly retries?: number;
};

const RETRIES_MAX = 10;

export const retriesMember: MemberSchema = {
  schema: { kind: 'integer', minimum: 0, maximum: RETRIES_MAX }, default: 0,
  description: 'Further requests, after a network error, a timeout, or a status that may pass',
};

/** Checks the options of a program that embeds us. Throws `invalid`. */
export function checkSendOptions({ retries = 0 }: SendOptions): void {
  if (Number.isInteger(retries) && retries >= 0 && retries <= RETRIES_MAX) return;
  throw new AppError('invalid',
    `retries must be a whole number from 0 to ${RETRIES_MAX}, not ${String(retries)}`);
}
