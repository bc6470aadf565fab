import { AppError } from '../base/errors.ts';

const NAME_LENGTH_MAX = 128;

/** The error for a record that does not exist. A long name is shortened. */
export function notFoundError(noun: string, name: string): AppError {
  const short = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name;
  return new AppError('not_found', `there is no ${noun} ${JSON.stringify(short)}`);
}
