/** `version`, `--version` and `-V`. */
import { BUILD, COMMIT, VERSION } from '../../base/version.ts';
import type { CommandContext } from './command-context.ts';

export async function printVersion({ output }: CommandContext): Promise<void> {
  await output.result({ version: VERSION, commit: COMMIT }, BUILD);
}
