/**
 * The pipes that commands write their output to. Node gives a child sockets, which no program can
 * open by name: `echo problem > /dev/stderr` fails on Linux. Named pipes can be. mkfifo(1) makes
 * them, some at once, since starting a program takes a server 10 ms for every 100 MB of memory that
 * it has; each is used for one run. Where it cannot, commands get sockets.
 */
import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, renameSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { removeTree } from '../../../base/files/remove-tree.ts';
import { makeRunFolder } from './run-folder.ts';

/** Our end, and the descriptor of the command's end. The caller closes both. */
type OutputPipe = { readonly source: Socket; readonly writeEnd: number };

const BATCH_SIZE = 16;

export class CommandOutputPipes {
  readonly #runsFolder: string;
  #folder: string | null = null;
  readonly #sparePaths: string[] = [];
  #filling: Promise<boolean> | null = null;

  constructor(runsFolder: string) {
    this.#runsFolder = runsFolder;
  }

  /** Takes a pipe; null: there can be none. Throws the system's error, also for a lost folder. */
  async take(folder: string, name: string): Promise<OutputPipe | null> {
    const path = join(folder, name);
    while (process.platform === 'linux') {
      const sparePath = this.#sparePaths.pop();
      if (sparePath === undefined) {
        if (!await this.#fill()) return null;
      } else if (existsSync(sparePath)) {
        renameSync(sparePath, path);
        return openPipe(path);
      }
    }
    return null;
  }

  /** Removes the spare pipes. Must be called when nothing runs. */
  async clear(): Promise<void> {
    const folder = this.#folder;
    this.#folder = null;
    this.#sparePaths.length = 0;
    if (folder !== null) await removeTree(folder);
  }

  async #fill(): Promise<boolean> {
    try {
      return await (this.#filling ??= this.#makeBatch());
    } finally {
      this.#filling = null;
    }
  }

  async #makeBatch(): Promise<boolean> {
    // The last batch is used up, or was removed by somebody.
    await this.clear();
    const folder = this.#folder = await makeRunFolder(this.#runsFolder);
    const paths = Array.from({ length: BATCH_SIZE }, (_, index) => join(folder, `${index}`));
    if (!await runMkfifo(paths)) return false;
    this.#sparePaths.push(...paths);
    return true;
  }
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
