/** Conditional writes (RFC 9110 §13): what a request expects of the stored record. */
import { AppError } from '../base/errors.ts';
import type { Exchange } from '../server/http-route.ts';
import { evaluateConditions, isConditional } from './conditional-request.ts';
import type { Precondition } from './repository.ts';

/** To be checked inside the write, which it ends with `precondition_failed`. */
export function createPrecondition(
  { request: { headers } }: Exchange, noun: string,
): Precondition | undefined {
  if (!isConditional(headers)) return undefined;
  return (current) => {
    if (evaluateConditions(headers, current, false) === 'failed') throw preconditionFailedError(
      noun);
  };
}

export function preconditionFailedError(noun: string): AppError {
  return new AppError('precondition_failed',
    `the stored ${noun} is another version than the request asks for`);
}
