import { readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended may stay as a zombie, where nobody asks for it. */
export function isRunning(pid: number): boolean {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0);
    // The name of the program, in brackets, stands before the state.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
