/** Reads everything that a start would read, and says what a start would say, changing nothing. */
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { journalName, snapshotName, takeInventory } from '../disk/inventory.ts';
import type { Inventory } from '../disk/inventory.ts';
import { checkContents, checkDirectory, countRecords, findManifest } from './manifest.ts';
import { checkNothingPending } from './pending.ts';
import { damagedAt } from '../generations/damage.ts';
import { assess } from '../generations/recovery.ts';
import type { Assessment, Source } from '../generations/recovery.ts';

export type VerifyReport = {
  readonly generation: number;
  readonly sequence: number;
  /** Count of records by collection. */
  readonly records: Readonly<Record<string, number>>;
  /** What a start would mend by itself: a torn end, a damaged snapshot with a good one before. */
  readonly notes: readonly string[];
};

/**
 * Throws `damaged`, with file, line and offset, when a start would be refused, and where the files
 * of a backup are not those of its manifest. `mustBegin`: a last journal without its first line,
 * which a start would make anew, is damage too.
 */
export async function verifyDirectory(
  source: Source, mustBegin = false,
): Promise<VerifyReport> {
  const { directory, files } = source;
  checkNothingPending(files, directory);
  const manifest = await findManifest(files, directory);
  if (manifest !== null) await checkDirectory(files, directory, manifest);
  const before = takeInventory(files, directory);
  const assessment = await assess(source).catch((error: unknown) => {
    checkKept(source, pathsOf(source, before));
    throw error;
  });
  checkKept(source, pathsRead(source, assessment));
  const { base, collections, damagedSets, journals, sequence } = assessment;
  const notes = damagedSets.map((error) => `${error.message} (the generation before is whole)`);
  const last = journals.at(-1);
  if (mustBegin && last !== undefined && last.replayed.startSequence < 0) {
    throw damagedAt({ path: last.path, line: 1, offset: 0 }, 'not the start of this journal');
  }
  const torn = last?.replayed.torn ?? null;
  if (last !== undefined && torn !== null) {
    const bytes = last.replayed.size - last.replayed.end;
    notes.push(`${last.path}, line ${torn.line}, offset ${torn.offset}: a torn end of ${bytes} `
      + 'bytes, never acknowledged; the next start keeps it aside and goes on before it');
  }
  const records = countRecords(collections);
  if (manifest !== null) checkContents(manifest, { sequence, records });
  return { generation: last?.generation ?? base, sequence, records, notes };
}

/** Throws `unavailable` where a server beside has deleted what was read, and may have cut it. */
function checkKept({ files }: Source, paths: readonly string[]): void {
  for (const path of paths) {
    if (files.existsSync(path)) continue;
    throw new AppError('unavailable', `a compaction has deleted ${path} meanwhile: try again`);
  }
}

function pathsRead(source: Source, { base, inventory, journals }: Assessment): string[] {
  return [...pathsOfSnapshot(source, inventory, base), ...journals.map(({ path }) => path)];
}

/** All that may be read. */
function pathsOf(source: Source, inventory: Inventory): string[] {
  return [
    ...[...inventory.snapshots.keys()].flatMap((generation) =>
      pathsOfSnapshot(source, inventory, generation)),
    ...inventory.journals.map((generation) => join(source.directory, journalName(generation))),
  ];
}

function pathsOfSnapshot(
  { directory }: Source, { snapshots }: Inventory, generation: number,
): string[] {
  const names = snapshots.get(generation) ?? [];
  return names.map((name) => join(directory, snapshotName(name, generation)));
}
