/** Reads all files that a start would read, and reports the same problems, but changes nothing. */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { listStateNames, readInventory, snapshotName } from '../disk/inventory.ts';
import { checkDirectory } from './backup.ts';
import { checkContents, countRecords, findManifest } from './manifest.ts';
import { damageError, describeMendedDamage } from '../generations/damage-error.ts';
import { checkJournalEnd, recoverState } from '../generations/recovery.ts';
import type { RecoveredState, RecoverySource } from '../generations/recovery.ts';
import type { JournalEnd } from '../lock/directory-lock.ts';

export type VerifyReport = {
  readonly generation: number;
  readonly sequence: number;
  readonly records: Readonly<Record<string, number>>;
  /** Problems that a start mends itself: a torn end, a damaged snapshot with a good one before. */
  readonly notes: readonly string[];
};

type VerifyOptions = {
  /** Whether a last journal without its first line is damage; a start would create it anew. */
  readonly mustBegin?: boolean;
  /** Where the journal must end; null or absent: not known. */
  readonly journalEnd?: JournalEnd | null;
};

/**
 * Throws `damaged`, with file, line and offset, when a start would be refused, or when the files of
 * a backup are not those of its manifest.
 */
export async function verifyDirectory(
  source: RecoverySource, { mustBegin = false, journalEnd = null }: VerifyOptions = {},
): Promise<VerifyReport> {
  const { directory, files } = source;
  const manifest = await findManifest(files, directory);
  if (manifest !== null) await checkDirectory(files, directory, manifest);
  const inventoryBefore = readInventory(files, directory);
  const state = await recoverState(source).catch((error: unknown) => {
    // Any file of the inventory may have been read.
    checkStillThere(source, listStateNames(inventoryBefore).map((name) => join(directory, name)));
    throw error;
  });
  checkStillThere(source, listReadPaths(source, state));
  checkJournalEnd(state, journalEnd);
  const { base, collections, snapshotErrors, journals, sequence } = state;
  const notes = snapshotErrors.map((error) =>
    `${describeMendedDamage(error)}; the next start goes back to the generation before, which is `
    + 'whole, and loses nothing');
  const lastJournal = journals.at(-1);
  if (mustBegin && lastJournal !== undefined && lastJournal.replay.startSequence === null) {
    throw damageError({ path: lastJournal.path, line: 1, offset: 0 },
      'not the start of this journal');
  }
  const torn = lastJournal?.replay.tornAt ?? null;
  if (lastJournal !== undefined && torn !== null) {
    const bytes = lastJournal.replay.size - lastJournal.replay.validEnd;
    notes.push(
      `${lastJournal.path}, line ${torn.line}, offset ${torn.offset}: a torn end of ${bytes} `
      + 'bytes, never acknowledged if a crash left it, and not a copy that was cut off; the next '
      + 'start keeps it aside and goes on before it');
  }
  const records = countRecords(collections);
  if (manifest !== null) checkContents(manifest, { sequence, records });
  return { generation: lastJournal?.generation ?? base, sequence, records, notes };
}

/** Throws `unavailable` when a running server has deleted a file that was being read. */
function checkStillThere({ files }: RecoverySource, paths: readonly string[]): void {
  for (const path of paths) {
    if (files.existsSync(path)) continue;
    throw new AppError('unavailable', `a compaction has deleted ${path} meanwhile: try again`);
  }
}

function listReadPaths(
  { directory }: RecoverySource, { base, inventory, journals }: RecoveredState,
): string[] {
  const names = inventory.snapshots.get(base) ?? [];
  return [
    ...names.map((name) => join(directory, snapshotName(name, base))),
    ...journals.map(({ path }) => path),
  ];
}
