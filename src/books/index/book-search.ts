/** The port of the word index: what the list of books sees of it. */
import type { BookFilter } from '../query/parse-query.ts';
import type { Corrections } from '../query/corrections.ts';
import type { BitSet } from '../../base/structures/bit-set.ts';

/** Finds books by their words. */
export interface BookSearch {
  /**
   * The books that the text conditions and the ISBN find. It does not wait for books that are not
   * indexed yet, and says which they are. null when there is no index to help, so that every book
   * must be looked at, and when the caller is gone, so that no book is read.
   */
  find(filter: BookFilter, caller: SearchCaller): Promise<Candidates | null>;

  /**
   * The corrections of those words of the filter that begin no word of the catalog, once all of it
   * is indexed. There are none without an index, and when the caller is gone.
   */
  findCorrections(filter: BookFilter, caller: SearchCaller): Promise<Corrections>;
}

/** The slots of the books that may match. Those that change meanwhile may be among them or not. */
export type Candidates = {
  /** Of the books that are indexed; the caller may change it. */
  readonly slots: BitSet;
  /** Whether each of these matches the text conditions, so that its texts need not be read. */
  readonly isExact: boolean;
  /** The slots that the index did not know when it was asked; null when there was none. */
  readonly unindexed: BitSet | null;
};

/** The caller of a search, who waits for its result. */
export type SearchCaller = {
  /** Whether somebody still waits; called now and then. */
  readonly isWanted: () => boolean;
};
