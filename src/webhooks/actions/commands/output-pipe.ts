/**
 * The pipes that a command writes its output to. Node gives a child sockets, which no program can
 * open by name: `echo problem > /dev/stderr` fails on Linux. Named pipes can be, so mkfifo(1) makes
 * them in the run folder; where it cannot, the child gets sockets.
 */
import { spawn } from 'node:child_process';
import { constants, openSync, closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** Our end of a named pipe, and the descriptor of the command's end. */
type OutputPipe = { readonly source: Socket; readonly writeEnd: number };

/**
 * Makes a named pipe for each name. Null when there can be none. Throws the system's error when
 * they cannot be opened. The caller closes both ends.
 */
export async function makeOutputPipes(
  folder: string, names: readonly string[],
): Promise<readonly OutputPipe[] | null> {
  const paths = names.map((name) => join(folder, name));
  if (process.platform !== 'linux' || !await runMkfifo(paths)) return null;
  const pipes: OutputPipe[] = [];
  try {
    for (const path of paths) pipes.push(openPipe(path));
    return pipes;
  } catch (thrown) {
    for (const pipe of pipes) closePipe(pipe);
    throw thrown;
  }
}

/** Closes both ends. */
function closePipe({ source, writeEnd }: OutputPipe): void {
  source.destroy();
  closeSync(writeEnd);
}

function runMkfifo(paths: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('mkfifo', ['-m', '600', ...paths], {
      stdio: 'ignore', env: { PATH: process.env['PATH'] },
    });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

function openPipe(path: string): OutputPipe {
  // Without O_NONBLOCK, opening this end would wait for the other one.
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writeEnd = openSync(path, constants.O_WRONLY);
    const source = new Socket({ fd: readEnd, readable: true, writable: false });
    return { source, writeEnd };
  } catch (thrown) {
    closeSync(readEnd);
    throw thrown;
  }
}
