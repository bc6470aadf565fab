/**
 * Prints completion scripts, made from the command table. For values that only the program knows
 * (identifiers, actions) a script calls `completion:values`.
 */
import { AppError } from '../../../base/errors.ts';
import type { CommandContext } from '../command-context.ts';
import { formatBashScript } from './bash.ts';
import { formatFishScript } from './fish.ts';
import type { Commands } from './completion-words.ts';
import { formatZshScript } from './zsh.ts';

/** Prints the script for the shell that the operand names. */
export async function printScript(context: CommandContext): Promise<number> {
  const { args, output, commands } = context;
  const script = formatScript(args.operand ?? '', commands);
  if (output.isJson) await output.json({ shell: args.operand, script });
  else await output.write(script);
  return 0;
}

function formatScript(shell: string, commands: Commands): string {
  switch (shell) {
    case 'bash': return formatBashScript(commands);
    case 'zsh': return formatZshScript(commands);
    case 'fish': return formatFishScript(commands);
    default: throw new AppError('usage', `completion takes bash, zsh or fish, not "${shell}"`);
  }
}
