/**
 * The run folder `<data>/command-runs/run-XXXXXX/` of a command run, 0700. It holds, where needed:
 *   run.json  which process the command is: a `ProcessIdentity`; written once it has been started
 *   stdin     what the command reads
 *   stdout, stderr  named pipes that the command writes to, see output-pipes.ts
 *   files/    the files that options describe, named after their variables
 *   work/     the working directory
 * The pipes of runs to come lie in such a folder as well.
 * A folder without a valid run.json is one whose command had not been started, or had been for less
 * than a millisecond. A folder is deleted when its run has ended, and whole at the next start.
 */
import { openSync, constants, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { removeTree } from '../../../base/files/remove-tree.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { describeProcess, type ProcessIdentity } from '../../../store/lock/process-identity.ts';

export type CommandFile = { readonly variable: string; readonly bytes: Buffer };

const PREFIX = 'run-';
const NOTE_NAME = 'run.json';
const NEW_FILE = { mode: 0o600, flag: 'wx' };
const files = createNodeFiles();

export class RunFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  static async make(runsFolder: string): Promise<RunFolder> {
    await mkdir(runsFolder, { recursive: true, mode: 0o700 });
    return new RunFolder(await mkdtemp(join(runsFolder, PREFIX)));
  }

  async makeWorkingDirectory(): Promise<string> {
    const path = join(this.path, 'work');
    await mkdir(path, { mode: 0o700 });
    return path;
  }

  /** Returns the paths by variable. */
  async writeFiles(commandFiles: readonly CommandFile[]): Promise<Record<string, string>> {
    const paths: Record<string, string> = {};
    if (commandFiles.length === 0) return paths;
    await mkdir(join(this.path, 'files'), { mode: 0o700 });
    for (const { variable, bytes } of commandFiles) {
      const path = join(this.path, 'files', variable);
      await writeFile(path, bytes, NEW_FILE);
      paths[variable] = path;
    }
    return paths;
  }

  /** Opens the input. The caller closes the descriptor. */
  async openInput(bytes: Buffer): Promise<number> {
    const path = join(this.path, 'stdin');
    await writeFile(path, bytes, NEW_FILE);
    return openSync(path, constants.O_RDONLY);
  }

  /** Notes the process of the command at once: after a crash before this it is hard to find. */
  noteProcess(pid: number): void {
    const note = JSON.stringify(describeProcess(files, pid));
    writeFileSync(join(this.path, NOTE_NAME), note, NEW_FILE);
  }

  /** null: there is no valid note. */
  readProcess(): ProcessIdentity | null {
    try {
      const note: unknown = JSON.parse(readFileSync(join(this.path, NOTE_NAME), 'utf8'));
      if (!isJsonObject(note)) return null;
      const { pid, startTime, bootId, namespace } = note;
      // Group 1 would be everybody, and group 0 our own.
      if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1) return null;
      return {
        pid, startTime: String(startTime), bootId: String(bootId), namespace: String(namespace),
      };
    } catch {
      return null;
    }
  }

  /** Throws the system's error. */
  remove(): Promise<void> {
    return removeTree(this.path);
  }
}

export function listRunFolders(runsFolder: string): RunFolder[] {
  try {
    return readdirSync(runsFolder).filter((name) => name.startsWith(PREFIX))
      .map((name) => new RunFolder(join(runsFolder, name)));
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
