/**
 * Prints completion scripts, made from the command table. For values that only the program knows
 * (identifiers, actions) a script calls `completion:values`.
 */
import { AppError } from '../../../base/errors.ts';
import type { CommandContext } from '../context.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import type { Commands } from './words.ts';
import { zshScript } from './zsh.ts';

/** Prints the script for the shell that the operand names. */
export async function completion(context: CommandContext): Promise<number> {
  const { given, output, commands } = context;
  const script = scriptFor(given.operand ?? '', commands);
  if (output.isJson) await output.json({ shell: given.operand, script });
  else await output.write(script);
  return 0;
}

function scriptFor(shell: string, commands: Commands): string {
  switch (shell) {
    case 'bash': return bashScript(commands);
    case 'zsh': return zshScript(commands);
    case 'fish': return fishScript(commands);
    default: throw new AppError('usage', `completion takes bash, zsh or fish, not "${shell}"`);
  }
}
