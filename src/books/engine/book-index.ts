/** An index that follows the books by their slots. */
import type { Steps } from '../../base/turns.ts';

export interface BookIndex {
  /** About how much memory it takes. */
  readonly bytes: number;
  /** Whether it must settle before the next `set`. */
  readonly isFull?: boolean;
  /** To be run before the first `set`. */
  prepare(): Steps<void>;
  /** Takes in the book that a slot has now; undefined: none. Idempotent. */
  set(slot: number, bytes: Buffer | undefined): void;
  /** To be run after all books have been set, from when on it answers, and after each change. */
  settle(): Steps<void>;
}
