/** How a file is imported, as a caller asks for it. */
import { quote } from '../../base/text/error-message.ts';
import type { ColumnMap } from './csv-columns.ts';
import type { Match, OnMatch } from './matching/book-import.ts';

export const MATCHES: readonly Match[] = ['isbn', 'title', 'source'];
/** A list of the ways to match. */
export const MATCH_LIST: RegExp = /^(isbn|title|source)(,(isbn|title|source))*$/u;
export const ON_MATCH: readonly OnMatch[] = ['skip', 'update', 'fill', 'replace'];

export type ImportMode = {
  /** Empty: the import matches by the own id of the format's records, if they have one. */
  readonly matches: readonly Match[];
  /** Null: the caller names none. Then it is `update`; see `MatchMode.isSameIdLeftAlone`. */
  readonly onMatch: OnMatch | null;
  /** Whether records of other types, such as articles, are taken for books too. */
  readonly hasAllTypes: boolean;
  /** The caller's word for what columns of a csv hold; empty: the names of the columns say it. */
  readonly columns: ColumnMap;
  /** Whether everything is checked and reported as usual, but nothing is stored. */
  readonly isDryRun: boolean;
  /** Whether the report names new and changed books by their titles, and what changes. */
  readonly isVerbose: boolean;
};

/** The ways to match in a list such as `isbn,title`; a text says what is wrong with it. */
export function parseMatches(text: string): readonly Match[] | string {
  const matches = new Set<Match>();
  for (const name of text.split(',')) {
    const match = MATCHES.find((one) => one === name);
    if (match === undefined) {
      return `must be of ${MATCHES.join(', ')}, several with commas between, not ${quote(text)}`;
    }
    matches.add(match);
  }
  return [...matches];
}

/** Whether the two ways to name the treatment of books that match contradict each other. */
export function isContradictory(onMatch: OnMatch | null, isReplacing: boolean): boolean {
  return isReplacing && onMatch !== null && onMatch !== 'replace';
}
