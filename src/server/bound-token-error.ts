/** Refuses a token that is bound to webhooks. */
import { AppError } from '../base/errors.ts';

/** The error for what is nothing for such a token, whether or not there is anything. */
export function boundTokenError(): AppError {
  return new AppError('forbidden', 'this token is for some webhooks alone, and this is not for it',
    { challenge: 'Bearer error="insufficient_scope"' });
}
