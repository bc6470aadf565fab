/** Conditional writes (RFC 9110 §13): what a request expects of the stored record. */
import { AppError } from '../base/errors.ts';
import type { Exchange } from '../server/http-route.ts';
import { evaluate, isConditional } from './conditional.ts';
import type { Expectation } from './repository.ts';

/** To be checked inside the write, which it ends with `precondition_failed`. */
export function expectationOf(
  { request: { headers } }: Exchange, noun: string,
): Expectation | undefined {
  if (!isConditional(headers)) return undefined;
  return (current) => {
    if (evaluate(headers, current, false) === 'failed') throw preconditionFailed(noun);
  };
}

export function preconditionFailed(noun: string): AppError {
  return new AppError('precondition_failed',
    `the stored ${noun} is another version than the request asks for`);
}
