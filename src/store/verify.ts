/** Reads everything that a start would read, and says what a start would say, changing nothing. */
import { basename } from 'node:path';
import { AppError } from '../base/errors.ts';
import type { Backup } from './backup.ts';
import type { Files } from './files.ts';
import { assess } from './recovery.ts';
import type { Source } from './recovery.ts';

export type VerifyReport = {
  readonly generation: number;
  readonly sequence: number;
  /** Count of records by collection. */
  readonly records: Readonly<Record<string, number>>;
  /** What a start would mend by itself: a torn end, a damaged snapshot with a good one before. */
  readonly notes: readonly string[];
};

/** Throws `damaged`, with file, line and offset, when a start would be refused. */
export async function verifyDirectory(source: Source): Promise<VerifyReport> {
  const { base, collections, damagedSets, journals, sequence } = await assess(source);
  const notes = damagedSets.map((error) => `${error.message} (the generation before is whole)`);
  const last = journals.at(-1);
  const torn = last?.replayed.torn ?? null;
  if (last !== undefined && torn !== null) {
    const bytes = last.replayed.size - last.replayed.end;
    notes.push(`${last.path}, line ${torn.line}, offset ${torn.offset}: a torn end of ${bytes} `
      + 'bytes, never acknowledged; the next start keeps it aside and goes on before it');
  }
  return {
    generation: last?.generation ?? base,
    sequence,
    records: Object.fromEntries([...collections].map(([name, { size }]) => [name, size])),
    notes,
  };
}

/**
 * The same for the files of a store that is open, as they were when the backup was opened: what is
 * written, compacted or deleted meanwhile plays no part.
 */
export function verifyBackup(source: Source, backup: Backup): Promise<VerifyReport> {
  const found = new Map(backup.files.map((file) => [file.name, file]));
  const byDescriptor = new Map(backup.files.map((file) => [file.descriptor, file]));
  const files: Files = {
    ...source.files,
    list: () => [...found.keys()],
    open(path) {
      const file = found.get(basename(path));
      if (file === undefined) throw new AppError('damaged', `${path} is no part of the backup`);
      return file.descriptor;
    },
    close() {},
    sizeOf: (descriptor) => byDescriptor.get(descriptor)?.bytes ?? 0,
    read: (descriptor, target, position) => source.files.read(
      descriptor, upTo(target, (byDescriptor.get(descriptor)?.bytes ?? 0) - position), position),
    readAsync: (descriptor, target, position) => source.files.readAsync(
      descriptor, upTo(target, (byDescriptor.get(descriptor)?.bytes ?? 0) - position), position),
  };
  return verifyDirectory({ ...source, files });
}

function upTo(target: Uint8Array, bytes: number): Uint8Array {
  return target.subarray(0, Math.max(0, Math.min(target.length, bytes)));
}
