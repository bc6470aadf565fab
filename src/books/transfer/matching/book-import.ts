/**
 * One import, as the catalog runs it: how its records are matched with the books that are there,
 * and what became of each.
 */
import type { ImportRecord } from '../import-record.ts';

/**
 * By what a record and a book are the same, besides the id of our own formats, which always comes
 * first. A record that has no such thing matches none, and is added.
 */
export type Match =
  | { readonly by: 'isbn' }
  /** Title, first author and year, folded. */
  | { readonly by: 'title' }
  /** The source's own id within `metadata.source.<format>`, under the first name that it has. */
  | { readonly by: 'source'; readonly format: string; readonly ownIdFields: readonly string[] };

/**
 * What becomes of the book that a record matches: `skip` leaves it as it is, `update` sets the
 * members that the record has, `replace` sets all members.
 */
export type OnMatch = 'skip' | 'update' | 'replace';

export type MatchMode = {
  /** Null: by the id of our own formats alone. */
  readonly match: Match | null;
  /**
   * Of a book that has the id of the record: `replace` replaces it. `update` counts as `skip`
   * where `match` is null, as imports without a match have always left such books alone.
   */
  readonly onMatch: OnMatch;
  /** Whether nothing is stored: the outcomes are those that the import would have. */
  readonly isDryRun: boolean;
};

/** What became of a record. */
export type ImportedBook =
  | {
    /**
     * The book's id; null for one that a dry run would add without an id of its own. For `exists`
     * it is the record's own id, or that of the book that matches it.
     */
    readonly id: string | null;
    /** `unchanged`: the book is already as the record says, and is not written. */
    readonly outcome: 'imported' | 'replaced' | 'updated' | 'unchanged' | 'exists';
    /** The fields of its source that have no room beside the book's other metadata, by name. */
    readonly leftOut: readonly string[];
  }
  /** Several books match, and none is touched: some of their ids, two at least, in order. */
  | { readonly id: null; readonly outcome: 'ambiguous'; readonly ids: readonly string[] };

export interface BookImport {
  /**
   * Stores the books in one transaction and fires no event. A record may match a book of the
   * catalog or of an earlier record. There is one result for each record, in their order. Batches
   * are stored in the order of the calls, of which several may be under way. Rejects with
   * `too_large` when they do not fit into one transaction.
   */
  importBatch(records: readonly ImportRecord[]): Promise<readonly ImportedBook[]>;
  /**
   * Ends the import, also where it has failed: until then it holds the memory by which it finds
   * matches. Idempotent; batches that are under way are not disturbed.
   */
  close(): void;
}
