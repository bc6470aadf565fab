/** Who holds a data directory, and the app that a command builds when nobody does. */
import { AppError } from '../base/errors.ts';
import type { CommandContext } from './command.ts';
import type { Owner, Session } from './session.ts';

export function findOwner(_dataDirectory: string): Owner | null {
  return null;
}

export async function openCommandSession(_context: CommandContext): Promise<Session> {
  throw new AppError('unavailable', 'no app');
}
