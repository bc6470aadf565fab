/**
 * Thrown for a run, or a check of options, of an action whose module is switched off for a while
 * (modules/action-modules.ts). A caller is answered 503; a stored request waits without an attempt.
 */
import { AppError } from '../../base/errors.ts';

export class SwitchedOffError extends AppError {
  readonly remainingMs: number;

  constructor(remainingMs: number) {
    super('unavailable', 'The action is switched off',
      { retryAfterS: Math.max(1, Math.ceil(remainingMs / 1000)) });
    this.remainingMs = remainingMs;
  }
}
