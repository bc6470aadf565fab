/**
 * Repairs a directory after recovery.ts has read it: copies torn ends and cuts them off, writes
 * lines again that were not proven to be on disk, and removes leftovers. A crash may interrupt any
 * step; the next start then reads the same state.
 */
import { join } from 'node:path';
import type { Logger } from '../../base/log.ts';
import { diskError } from '../disk/disk-error.ts';
import { readFully, writeFully } from '../disk/read-write.ts';
import type { Files } from '../disk/files.ts';
import { journalName, temporaryName, tornName } from '../disk/inventory.ts';
import { createJournalFile, reopenJournalFile } from '../journal/journal-file.ts';
import type { JournalFile } from '../journal/journal-file.ts';
import type { Assessment, ReplayedJournal } from './recovery.ts';

const COPY_BYTES = 1 << 20;

/** Returns the journal file to continue; all that was replayed is on disk. */
export async function repairDirectory(
  directory: string, files: Files, logger: Logger, assessment: Assessment,
): Promise<JournalFile> {
  const { abandonedGenerations, inventory, journals } = assessment;
  const last = journals.at(-1);
  for (const generation of abandonedGenerations) setJournalAside(directory, files, generation);
  let file: JournalFile;
  if (last === undefined || last.replayed.startSequence < 0) {
    if (last !== undefined) setJournalAside(directory, files, last.generation);
    file = await createJournalFile(files, directory, last?.generation ?? 1, assessment.sequence);
  } else {
    if (last.replayed.tornAt !== null) await cutTornEnd(directory, files, logger, last);
    await rewriteUnproven(files, last);
    files.syncDirectorySync(directory);
    file = reopenJournalFile(files, directory, last.generation, last.replayed.validEnd);
  }
  for (const name of inventory.temporary) {
    const path = join(directory, name);
    // A torn end's unfinished copy may be gone: it was made anew under its final name.
    if (files.existsSync(path)) removeLeftover(files, logger, path);
  }
  return file;
}

// A leftover only takes room: no reason to refuse the start.
function removeLeftover(files: Files, logger: Logger, path: string): void {
  try {
    files.unlinkSync(path);
  } catch (error) {
    logger.warning('could not remove a file that was never finished', { file: path, error });
  }
}

/** Renames a journal that was never used: nothing in it was ever acknowledged. */
function setJournalAside(directory: string, files: Files, generation: number): void {
  const path = join(directory, journalName(generation));
  files.renameSync(path, findFreeTornPath(directory, files, generation, 0));
  files.syncDirectorySync(directory);
}

/** Copies the torn end, under its final name on disk, before it cuts it off. */
async function cutTornEnd(
  directory: string, files: Files, logger: Logger, { generation, path, replayed }: ReplayedJournal,
): Promise<void> {
  const { validEnd, size, tornAt } = replayed;
  const tornPath = findFreeTornPath(directory, files, generation, validEnd);
  const temporaryPath = temporaryName(tornPath);
  if (files.existsSync(temporaryPath)) files.unlinkSync(temporaryPath);
  const source = files.openSync(path, 'append-existing');
  try {
    const target = files.openSync(temporaryPath, 'create');
    try {
      await copyRange(files, source, validEnd, size, target);
      await files.datasync(target);
    } finally {
      files.closeSync(target);
    }
    files.renameSync(temporaryPath, tornPath);
    files.syncDirectorySync(directory);
    files.truncateSync(source, validEnd);
    files.datasyncSync(source);
  } finally {
    files.closeSync(source);
  }
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

async function rewriteUnproven(files: Files, { path, replayed }: ReplayedJournal): Promise<void> {
  // A note at the end is written again, too: if its sync had failed, later lines would lie behind a
  // hole, which the next start would have to take for damage.
  const { validEnd, unprovenAt } = replayed;
  const descriptor = files.openSync(path, 'append-existing');
  try {
    const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, validEnd - unprovenAt));
    for (let at = unprovenAt; at < validEnd; at += buffer.length) {
      const piece = buffer.subarray(0, Math.min(buffer.length, validEnd - at));
      await readFully(files, descriptor, piece, at);
      await writeFully(files, descriptor, piece, at);
    }
    await files.datasync(descriptor);
  } catch (error) {
    throw diskError(`${path}: what was read cannot be made durable`, error);
  } finally {
    files.closeSync(descriptor);
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
