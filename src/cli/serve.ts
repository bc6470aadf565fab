/** `serve`. */
import { AppError } from '../base/errors.ts';
import type { CommandContext } from './command.ts';

export async function serve(context: CommandContext): Promise<number> {
  context.loadSettings();
  throw new AppError('unavailable', 'no app');
}
