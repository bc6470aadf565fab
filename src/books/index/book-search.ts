/** The port of the word index: what the list of books sees of it. */
import type { BookFilter } from '../query/parse-query.ts';
import type { Corrections } from '../query/corrections.ts';
import type { BitSet } from '../../base/structures/bit-set.ts';

/** Finds books by their words. */
export interface BookSearch {
  /**
   * The slots of all books that may match the text conditions and the ISBN; slots that change
   * meanwhile are added. null when there is no index to help, so that every book must be looked at,
   * and when the caller is gone, so that no book is read.
   * Throws `unavailable` when the index is not ready in time and the caller is not patient.
   */
  find(
    filter: BookFilter, changes: SearchChanges, caller: SearchCaller,
  ): Promise<Candidates | null>;

  /**
   * The corrections of those words of the filter that begin no word of the catalog. There are none
   * without an index, and when the caller is gone. Throws as `find` does.
   */
  findCorrections(filter: BookFilter, caller: SearchCaller): Promise<Corrections>;
}

/** The slots of all books that may match the text conditions, and perhaps of others. */
export type Candidates = {
  readonly slots: BitSet;
  /** How many slots there are. */
  readonly count: number;
  /**
   * Whether each candidate that has not changed since is known to match the text conditions, so
   * that its texts need not be read again.
   */
  readonly isExact: boolean;
  /**
   * Whether a book in the index matches: then each word begins a word of the catalog. If not, all
   * candidates are slots that have changed.
   */
  readonly hasIndexedMatch: boolean;
};

/** The changes since the query began; the list of books keeps them (list/concurrent-changes.ts). */
export interface SearchChanges {
  readonly changedSlots: ReadonlySet<number>;
}

/** The caller of a search, who waits for its result. */
export type SearchCaller = {
  /** Whether somebody still waits; called now and then. */
  readonly isWanted: () => boolean;
  /** A patient caller waits as long as it takes; a client on the network is told to come again. */
  readonly isPatient: boolean;
};
