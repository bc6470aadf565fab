/** Reads everything that a start would read, and says what a start would say, changing nothing. */
import { checkNothingPending } from './pending.ts';
import { assess } from '../generations/recovery.ts';
import type { Source } from '../generations/recovery.ts';

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
  checkNothingPending(source.files, source.directory);
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
