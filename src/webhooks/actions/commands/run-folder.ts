/**
 * The run folder `<data>/command-runs/run-XXXXXX/` of a command run, 0700. It holds, where needed:
 *   run.json  which process the command is: a `ProcessIdentity`, with the inode of the folder, as a
 *             copy of the data has another one; written once the command has been started
 *   stdin     what the command reads
 *   stdout, stderr  named pipes that the command writes to, see output-pipes.ts
 *   files/    the files that options describe, named after their variables
 *   work/     the working directory
 * The pipes of runs to come lie in such a folder as well.
 * A folder without a valid run.json is one whose command had not been started, or had been for less
 * than a millisecond. A folder is deleted when its run has ended, and whole at the next start.
 */
import { openSync, constants, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../../base/errors.ts';
import { isJsonObject } from '../../../base/fields.ts';
import { createNodeFiles } from '../../../store/disk/files.ts';
import { describeProcess, type ProcessIdentity } from '../../../store/lock/process-identity.ts';

export type CommandFile = { readonly variable: string; readonly bytes: Buffer };

const PREFIX = 'run-';
const NOTE_NAME = 'run.json';
const NEW_FILE = { mode: 0o600, flag: 'wx' };
const files = createNodeFiles();

/** Resolves with the path. */
export async function makeRunFolder(runsFolder: string): Promise<string> {
  await mkdir(runsFolder, { recursive: true, mode: 0o700 });
  return mkdtemp(join(runsFolder, PREFIX));
}

export async function makeWorkingDirectory(folder: string): Promise<string> {
  const path = join(folder, 'work');
  await mkdir(path, { mode: 0o700 });
  return path;
}

/** Returns the paths by variable. */
export async function writeCommandFiles(
  folder: string, commandFiles: readonly CommandFile[],
): Promise<Record<string, string>> {
  const paths: Record<string, string> = {};
  if (commandFiles.length === 0) return paths;
  await mkdir(join(folder, 'files'), { mode: 0o700 });
  for (const { variable, bytes } of commandFiles) {
    const path = join(folder, 'files', variable);
    await writeFile(path, bytes, NEW_FILE);
    paths[variable] = path;
  }
  return paths;
}

/** Opens the input. The caller closes the descriptor. */
export async function openInput(folder: string, bytes: Buffer): Promise<number> {
  const path = join(folder, 'stdin');
  await writeFile(path, bytes, NEW_FILE);
  return openSync(path, constants.O_RDONLY);
}

/** Notes the process of the command at once: after a crash before this it is hard to find. */
export function noteProcess(folder: string, pid: number): void {
  const note = { ...describeProcess(files, pid), folderInode: statSync(folder).ino };
  writeFileSync(join(folder, NOTE_NAME), JSON.stringify(note), NEW_FILE);
}

/** null: there is no valid note, or this is a copy, and the command the original's. */
export function readNotedProcess(folder: string): ProcessIdentity | null {
  try {
    const note: unknown = JSON.parse(readFileSync(join(folder, NOTE_NAME), 'utf8'));
    if (!isJsonObject(note)) return null;
    const { pid, startTime, bootId, namespace, folderInode } = note;
    if (folderInode !== statSync(folder).ino) return null;
    // Group 1 would be everybody, and group 0 our own.
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1) return null;
    return {
      pid, startTime: String(startTime), bootId: String(bootId), namespace: String(namespace),
    };
  } catch {
    return null;
  }
}

export function listRunFolders(runsFolder: string): string[] {
  try {
    return readdirSync(runsFolder).filter((name) => name.startsWith(PREFIX))
      .map((name) => join(runsFolder, name));
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
