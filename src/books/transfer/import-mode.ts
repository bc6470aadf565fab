/** How a file is imported, as a caller asks for it. */
import type { Match, OnMatch } from './matching/book-import.ts';

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
