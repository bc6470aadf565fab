/** Shows long text through a pager, as `less` is one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A shell ends with these when there is no such program, or one that cannot be run. */
const NOT_RUN = [126, 127];

/**
 * `command` may have options (`less -R`). Resolves when the pager has ended, with false when it
 * could not be run, which the shell has said then.
 */
export async function showInPager(
  text: string, command: string, environment: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  // Ctrl-C is for the pager: it must not end this process.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  try {
    const stdio = ['pipe', 'inherit', 'inherit'] as const;
    const pager = spawn(command, { shell: true, stdio: [...stdio], env: { ...environment } });
    // A user may leave the pager before the end of the text.
    pager.stdin?.on('error', ignore);
    pager.stdin?.end(text);
    const [code] = await once(pager, 'close');
    return !NOT_RUN.includes(Number(code));
  } finally {
    process.removeListener('SIGINT', ignore);
  }
}
