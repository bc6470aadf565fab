/** The port of the word index: what the list of books sees of it. */
import type { BookFilter } from '../query/parse-query.ts';
import type { Corrections } from '../query/corrections.ts';
import type { BitSet } from '../../base/structures/bit-set.ts';

/** Finds books by their words. */
export interface BookSearch {
  /**
   * The slots of all books that may match the text conditions and the ISBN; slots that change
   * meanwhile are added. It does not wait for books that are not indexed yet: they are among the
   * slots. null when there is no index to help, so that every book must be looked at, and when the
   * caller is gone, so that no book is read.
   */
  find(
    filter: BookFilter, changes: SearchChanges, caller: SearchCaller,
  ): Promise<Candidates | null>;

  /**
   * The corrections of those words of the filter that begin no word of the catalog, once all of it
   * is indexed. There are none without an index, and when the caller is gone.
   */
  findCorrections(filter: BookFilter, caller: SearchCaller): Promise<Corrections>;
}

/** The slots of all books that may match the text conditions, and perhaps of others. */
export type Candidates = {
  readonly slots: BitSet;
  /** How many slots there are. */
  readonly count: number;
  /**
   * Whether each candidate that was indexed and has not changed since is known to match the text
   * conditions, so that its texts need not be read again.
   */
  readonly isExact: boolean;
  /**
   * Whether a book in the index matches: then each word begins a word of the catalog. If not, all
   * candidates are slots that have changed or are not indexed.
   */
  readonly hasIndexedMatch: boolean;
  /**
   * The slots that the index did not know when it was asked, each of them in `slots`, too; null
   * when there was none. Their books must be read.
   */
  readonly unindexed: BitSet | null;
  /** How many of them there are. */
  readonly unindexedCount: number;
};

/** The changes since the query began; the list of books keeps them (list/concurrent-changes.ts). */
export interface SearchChanges {
  readonly changedSlots: ReadonlySet<number>;
}

/** The caller of a search, who waits for its result. */
export type SearchCaller = {
  /** Whether somebody still waits; called now and then. */
  readonly isWanted: () => boolean;
};
