/** What the word index is to those that ask it. */
import type { BookFilter } from '../query/parse.ts';
import type { Bits } from '../../base/structures/bit-set.ts';

/** Finds books by their words. */
export interface BookSearch {
  /**
   * The slots of all books that may match the text conditions and the ISBN; null when there is no
   * help, and every book must be looked at. Slots that are written while it works are added.
   * Throws `unavailable` when the index is not ready in time and the asker is not patient.
   */
  find(filter: BookFilter, writes: Writes, asker: Asker): Promise<Candidates | null>;
}

/** The slots of all books that may match the text conditions, and perhaps of others. */
export type Candidates = {
  readonly slots: Bits;
  readonly count: number;
  /** Whether every book that was not written since matches the text conditions. */
  readonly isExact: boolean;
};

/** Which slots were written since the query began. */
export interface Writes {
  readonly changed: ReadonlySet<number>;
}

/** Who waits for an answer. */
export type Asker = {
  /** Asked now and then: whether somebody still waits. */
  readonly isWanted: () => boolean;
  /** A patient asker waits as long as it takes; a client on the network is told to come again. */
  readonly isPatient: boolean;
};
