/**
 * Removes a folder whatever a program has made in it: folders that may not be entered, and paths
 * that are longer than the system takes.
 */
import { randomUUID } from 'node:crypto';
import { chmod, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../errors.ts';

/** Linux takes paths of 4096 bytes, with 255 for a name; a name may have 4 bytes a character. */
const PATH_LENGTH_MAX = 700;
/** A folder is visited twice: to list it, and once it is empty. Others may fill it meanwhile. */
const VISITS_MAX = 10_000_000;

/**
 * Removes links without following them. A missing entry counts as removed. Throws the system's
 * error for an entry that cannot be removed.
 */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await removeStubbornTree(path);
  }
}

/** Folders that lie too deep are moved up to `root` before their turn, so no path gets longer. */
async function removeStubbornTree(root: string): Promise<void> {
  const folders = [root];
  for (let visits = 0; visits < VISITS_MAX; visits += 1) {
    const folder = folders.at(-1);
    if (folder === undefined) return;
    const subfolders = await emptyFolder(folder);
    if (subfolders.length === 0) {
      await ignoreMissing(rmdir(folder));
      folders.pop();
    }
    for (const subfolder of subfolders) {
      if (subfolder.length <= root.length + PATH_LENGTH_MAX) folders.push(subfolder);
      else folders.splice(1, 0, await moveFolder(subfolder, root));
    }
  }
  throw new Error(`something keeps making folders in ${root}`);
}

async function moveFolder(path: string, root: string): Promise<string> {
  const higherPath = join(root, randomUUID());
  // A folder that may not be written in cannot be moved, for its entry `..`.
  await chmod(path, 0o700);
  await rename(path, higherPath);
  return higherPath;
}

/** Removes all entries but folders, and returns the folders. */
async function emptyFolder(folder: string): Promise<string[]> {
  await ignoreMissing(chmod(folder, 0o700));
  const subfolders: string[] = [];
  for (const entry of await ignoreMissing(readdir(folder, { withFileTypes: true })) ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) subfolders.push(path);
    else await ignoreMissing(unlink(path));
  }
  return subfolders;
}

async function ignoreMissing<Result>(promise: Promise<Result>): Promise<Result | undefined> {
  try {
    return await promise;
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}
