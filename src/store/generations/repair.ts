/**
 * Repairs a directory after recovery.ts has read it: copies a torn end to a `.torn` file and cuts
 * it off, makes durable what was replayed, and sets aside or removes what was never used. A crash
 * may interrupt any step; the next start then reads the same state.
 *
 * The end of the last journal may be in the page cache only. After a failed sync a second one
 * proves nothing, as pages that could not be written count as clean. So the lines that no later
 * line proves are written again, in place and unchanged, and then synced. If a marker says that a
 * sync failed, everything is copied to a new generation as well (file-journal.ts). The marker can
 * be missing, as the failing disk had to take it; then the rewrite alone has to suffice.
 */
import { join } from 'node:path';
import type { Logger } from '../../base/log.ts';
import { diskError } from '../disk/disk-error.ts';
import { readFully, withFile, writeFully } from '../disk/read-write.ts';
import type { Files } from '../disk/files.ts';
import { journalName, temporaryName, tornName } from '../disk/inventory.ts';
import { createJournalFile, reopenJournalFile } from '../journal/journal-file.ts';
import type { JournalFile } from '../journal/journal-file.ts';
import type { RecoveredState, ReplayedJournal } from './recovery.ts';

const COPY_BYTES = 1 << 20;

/** Returns the journal file to continue; all that was replayed is on disk. */
export async function repairDirectory(
  directory: string, files: Files, logger: Logger, state: RecoveredState,
): Promise<JournalFile> {
  const { abandonedGenerations, inventory, journals } = state;
  const last = journals.at(-1);
  for (const generation of abandonedGenerations) setJournalAside(directory, files, generation);
  let file: JournalFile;
  // Without its first line the last journal was never used.
  if (last === undefined || last.replay.startSequence === null) {
    if (last !== undefined) setJournalAside(directory, files, last.generation);
    file = await createJournalFile(files, directory, last?.generation ?? 1, state.sequence);
  } else {
    if (last.replay.tornAt !== null) await cutTornEnd(directory, files, logger, last);
    await rewriteUnproven(files, last);
    files.syncDirectorySync(directory);
    file = reopenJournalFile(files, directory, last.generation, last.replay.validEnd);
  }
  for (const name of inventory.temporary) {
    const path = join(directory, name);
    // `cutTornEnd` may have used the name of an unfinished copy again, and renamed that one.
    if (files.existsSync(path)) removeLeftover(files, logger, path);
  }
  return file;
}

/** Removes a leftover. If that fails, it only takes room: no reason to refuse the start. */
function removeLeftover(files: Files, logger: Logger, path: string): void {
  try {
    files.unlinkSync(path);
  } catch (error) {
    logger.warning('could not remove a file that was never finished', { file: path, error });
  }
}

/** Renames a journal that was never used to a `.torn` file: nothing in it was acknowledged. */
function setJournalAside(directory: string, files: Files, generation: number): void {
  const path = join(directory, journalName(generation));
  files.renameSync(path, findFreeTornPath(directory, files, generation, 0));
  files.syncDirectorySync(directory);
}

/** Copies the torn end, under its final name on disk, before it cuts it off. */
async function cutTornEnd(
  directory: string, files: Files, logger: Logger, { generation, path, replay }: ReplayedJournal,
): Promise<void> {
  const { validEnd, size, tornAt } = replay;
  const tornPath = findFreeTornPath(directory, files, generation, validEnd);
  const temporaryPath = temporaryName(tornPath);
  if (files.existsSync(temporaryPath)) files.unlinkSync(temporaryPath);
  await withFile(files, path, 'append-existing', async (source) => {
    try {
      await withFile(files, temporaryPath, 'create', async (target) => {
        await copyRange(files, source, validEnd, size, target);
        await files.datasync(target);
      });
    } catch (error) {
      // A start that is refused leaves nothing, least of all on a full disk.
      if (files.existsSync(temporaryPath)) removeLeftover(files, logger, temporaryPath);
      throw error;
    }
    files.renameSync(temporaryPath, tornPath);
    files.syncDirectorySync(directory);
    // `rewriteUnproven` syncs the journal before anything else is written to it. A crash before
    // that may bring the torn end back, and the next start cuts it off again.
    files.truncateSync(source, validEnd);
  });
  logger.warning('cut a torn end off the journal', {
    file: path, line: tornAt?.line, offset: validEnd, bytes: size - validEnd, kept: tornPath,
  });
}

async function copyRange(
  files: Files, source: number, from: number, to: number, target: number,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, to - from));
  for (let at = from; at < to; at += buffer.length) {
    const piece = buffer.subarray(0, Math.min(buffer.length, to - at));
    const count = await readFully(files, source, piece, at);
    await writeFully(files, target, piece.subarray(0, count), at - from);
  }
}

/** Writes again and syncs the lines that no later line shows to be on disk. */
async function rewriteUnproven(files: Files, { path, replay }: ReplayedJournal): Promise<void> {
  // A note at the end is rewritten, too. If its sync had failed, a power loss could destroy it and
  // leave later lines, which the next start would have to take for damage.
  const { validEnd, unprovenAt } = replay;
  try {
    await withFile(files, path, 'append-existing', async (descriptor) => {
      const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, validEnd - unprovenAt));
      for (let at = unprovenAt; at < validEnd; at += buffer.length) {
        const piece = buffer.subarray(0, Math.min(buffer.length, validEnd - at));
        await readFully(files, descriptor, piece, at);
        await writeFully(files, descriptor, piece, at);
      }
      await files.datasync(descriptor);
    });
  } catch (error) {
    throw diskError(`${path}: what was read cannot be made durable`, error);
  }
}

function findFreeTornPath(
  directory: string, files: Files, generation: number, offset: number,
): string {
  let path = join(directory, tornName(generation, offset));
  for (let copyNumber = 2; files.existsSync(path); copyNumber += 1) {
    path = join(directory, tornName(generation, offset, copyNumber));
  }
  return path;
}
