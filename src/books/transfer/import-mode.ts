/** How a file is imported: what a caller asks for, and what that means for the file's format. */
import { AppError } from '../../base/errors.ts';
import type { FormatCodec } from './format-codec.ts';
import type { FormatName } from './format-list.ts';
import type { Match, MatchMode, OnMatch } from './matching/book-import.ts';

export const MATCHES: readonly Match[] = ['isbn', 'title', 'source'];
export const ON_MATCH: readonly OnMatch[] = ['skip', 'update', 'replace'];

export type ImportMode = {
  /** Null: by what the format's records are known again, if by anything. */
  readonly match: Match | null;
  readonly onMatch: OnMatch;
  /** Whether records of other types, such as articles, are taken for books too. */
  readonly hasAllTypes: boolean;
  /** Whether everything is checked and reported as usual, but nothing is stored. */
  readonly isDryRun: boolean;
};

/** What is done with books that match; null where the two ways to say it contradict each other. */
export function combineOnMatch(onMatch: OnMatch | null, isReplacing: boolean): OnMatch | null {
  if (!isReplacing) return onMatch ?? 'update';
  return onMatch === null || onMatch === 'replace' ? 'replace' : null;
}

/** Throws `invalid` where records shall be matched by ids that the format has not. */
export function createMatchMode(
  format: FormatName, { ownIdFields, defaultMatch }: FormatCodec, mode: ImportMode,
): MatchMode {
  const source = ownIdFields === undefined ? null : { format, ownIdFields };
  if (mode.match === 'source' && source === null) {
    throw new AppError('invalid', `records of ${format} have no id of their source: `
      + 'match them by isbn or title');
  }
  const match = mode.match ?? defaultMatch ?? (source === null ? null : 'source');
  return { match, onMatch: mode.onMatch, source, isDryRun: mode.isDryRun };
}
