/** `version`, `--version` and `-V`. */
import { VERSION } from '../../base/version.ts';
import type { CommandContext } from './command-context.ts';

export async function printVersion({ output }: CommandContext): Promise<void> {
  await output.result({ version: VERSION }, VERSION);
}
