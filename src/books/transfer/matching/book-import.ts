/**
 * One import, as the catalog runs it: how its records are matched with the books that are there,
 * and what became of each.
 */
import type { JsonObject } from '../../../base/schema.ts';
import type { ImportRecord } from '../import-record.ts';

/**
 * By what a record and a book are the same, besides the id of our own formats, which always comes
 * first: `title` is title, first author and year, folded; where the record or the book has no year
 * of an edition, title and first author, if one book alone has them; `source` is the source's own
 * id. A record of another program without one is the same as the last record of a book if it says
 * the same. Any other record matches none, and is added.
 */
export type Match = 'isbn' | 'title' | 'source';

/**
 * The treatment of the book that a record matches: `skip` leaves it as it is, `update` sets the
 * members that the record says otherwise than its source did at the last import, `fill` only those
 * that the book lacks, and unites keywords and shelves, `replace` sets all members, and the dates
 * that the record has.
 */
export type OnMatch = 'skip' | 'update' | 'fill' | 'replace';

/** A format of other programs whose records have their own ids, and where books have them. */
export type SourceFormat = {
  /** The member of `metadata.source`. */
  readonly format: string;
  /** The names within it that may hold the id; the first that is there counts. */
  readonly ownIdFields: readonly string[];
  /** See `FormatTable`. */
  readonly exportOf: (name: string) => string;
  /** The names within it that may hold the id of a book, as our exports have it. */
  readonly bookIdFields: readonly string[];
  /** The text before the id of a book there; null: there never is one. */
  readonly bookIdPrefix: string | null;
  /** Whether our export of a stored book without an own id may have made this one. */
  isMadeOwnId(bytes: Buffer, ownId: string): boolean;
  /**
   * The members that an import would read from our export of a stored book in the format: from the
   * whole, and from the part that another program may keep. Empty for a format that is not written.
   */
  readExports(bytes: Buffer): Iterable<JsonObject>;
};

export type MatchMode = {
  /** The first by which a book is found counts. None: by the id of our own formats alone. */
  readonly matches: readonly Match[];
  readonly onMatch: OnMatch;
  /** Whether `update` leaves a book alone that has the id of the record: nobody asked for it. */
  readonly isSameIdLeftAlone: boolean;
  /** The format that is read; null for our own. Needed where `matches` has `source`. */
  readonly source: SourceFormat | null;
  /** The format by which what the records say is remembered (last-import.ts); null: it is not. */
  readonly digestFormat: string | null;
  /** Whether nothing is stored: the outcomes are those that the import would have. */
  readonly isDryRun: boolean;
  /** Whether the results of changed books name what changes. */
  readonly isVerbose: boolean;
};

/** The key that a book shares with another book, which its record did not match. */
export type Remark = 'sameIsbn' | 'sameTitle';

/** The outcome of a record. */
export type ImportedBook =
  | {
    /**
     * The book's id; null for one that a dry run would add without an id of its own. For `exists`
     * it is the record's own id, or that of the book that matches it.
     */
    readonly id: string | null;
    /**
     * `unchanged`: the book is already as the record says, or took in the one of the record
     * (merged-ids.ts), and is not written. `repeated`: an earlier record of the import made or
     * matched the book, and says something else.
     */
    readonly outcome: 'imported' | 'replaced' | 'updated' | 'unchanged' | 'exists' | 'repeated';
    /**
     * The members of its metadata that have no room beside those of the book, by name, and the
     * dates of a file from here that contradict the book's other.
     */
    readonly leftOut: readonly string[];
    /**
     * The dates that are not of the reading that the book has, and are kept beside; absent: none.
     */
    readonly putAside?: readonly string[];
    /**
     * By what another import could find a new book: without anything the record would be added
     * once more, and by its wording alone once it has changed.
     */
    readonly knownBy?: 'nothing' | 'wording' | 'keys';
    /**
     * A book that a new one is like, or that has the ISBN of the one that has the record's own id;
     * absent or null: none. Its id is null where a dry run would have added it.
     */
    readonly alike?: { readonly remark: Remark; readonly id: string | null } | null;
    /** Whether the record is of a book that was merged into this one. */
    readonly isMerged?: boolean;
    /** Whether the record has `?` in the place of letters of the book, which stay. */
    readonly hasLostLetters?: boolean;
    /**
     * The members of an updated book whose values the source of the record had not said itself;
     * absent: none.
     */
    readonly replacedNames?: readonly string[];
    /** The members that a fill passes over, whose values nothing keeps; absent: none. */
    readonly passedOverNames?: readonly string[];
    /** The members whose values stay, as metadata have no room to keep them; absent: none. */
    readonly stayingNames?: readonly string[];
    /**
     * The members of an updated or replaced book that change, by name, each with its value before
     * and after in short: `4 → 5`; of a source of metadata the names of its fields. Also the
     * members of which the source says nothing more. Absent unless verbose.
     */
    readonly changes?: Readonly<Record<string, string>>;
  }
  /** Several books match, and none is touched: some of their ids, two at least, in order. */
  | { readonly id: null; readonly outcome: 'ambiguous'; readonly ids: readonly string[] };

export interface BookImport {
  /**
   * Stores the books in one transaction and fires no event. A record may match a book of the
   * catalog; the book that an earlier record made or matched it leaves as it is, unless it has the
   * id of that book. There is one result for each record, in their order. Batches
   * are stored in the order of the calls, of which several may be under way. Rejects with
   * `too_large` when they do not fit into one transaction.
   */
  importBatch(records: readonly ImportRecord[]): Promise<readonly ImportedBook[]>;
  /**
   * Begins no more batches: with the last one that is under way, the memory goes by which matches
   * are found. Idempotent.
   */
  close(): void;
}
