/** `data:*`. */
import { AppError } from '../base/errors.ts';
import type { CommandContext } from './command.ts';

export async function verifyData(_context: CommandContext): Promise<number> {
  throw new AppError('unavailable', 'no store');
}
export const compactData = verifyData;
export const backupData = verifyData;
export const restoreData = verifyData;
