/**
 * Splits a stream of bytes into records, wherever its chunks end, with the line on which each
 * begins. Memory is bounded by the longest record allowed; a longer one is reported and skipped.
 */
import type { JsonObject } from '../../base/schema.ts';
import { ByteCollector } from '../../base/structures/byte-collector.ts';

/**
 * One record of a file: as JSON text in UTF-8, as the book that was made of its fields, as one that
 * is no book, or as the problem with it. `key` is what the source calls it.
 */
export type SourceRecord =
  | {
    readonly line: number; readonly json: Buffer; readonly problem?: never;
  }
  | {
    readonly line: number; readonly key: string | null;
    /** The members that the model has taken, perhaps without a title. */
    readonly body: JsonObject;
    /** Why it has no title, in the source's words; absent: it has one. */
    readonly titleProblem?: string;
    /** The fields that did not fit into its `metadata`, by their names. */
    readonly leftOut: readonly string[];
    /** The members of which the model refused a value, which is in its `metadata`; absent: none. */
    readonly putAside?: readonly string[];
    /** The columns that are a person's own, whose texts are in `metadata`; absent: none. */
    readonly ownColumns?: readonly string[];
    readonly json?: never; readonly problem?: never;
  }
  | {
    readonly line: number; readonly key: string | null;
    /** The kind of a record that is no book, in the format's word. */
    readonly otherType: string;
    readonly json?: never; readonly problem?: never;
  }
  | {
    readonly line: number; readonly key?: string | null;
    readonly problem: string; readonly json?: never;
  };

export interface RecordSplitter {
  /**
   * The columns by their names in the file, each with what it holds; null: they have the names of
   * that, or no header has come. Absent: the format has no columns of a person's choice.
   */
  readonly columns?: Readonly<Record<string, string>> | null;
  /** The records that end in `chunk`. */
  push(chunk: Buffer): readonly SourceRecord[];
  /**
   * The records that the end of the stream completes: mostly one or none. Those of a file that is
   * read whole are made as they are asked for, with a null after a while of work without one.
   */
  end(): Iterable<SourceRecord | null>;
}

/** Above the largest book that an export can write, and still quick to parse. */
export const RECORD_BYTES_MAX = 2 * 1024 * 1024;

export const TOO_LONG = `the record is longer than ${RECORD_BYTES_MAX} bytes`;

/** Collects the pieces of the record that is being read, up to the limit. */
export class RecordBytes {
  readonly #collector = new ByteCollector();
  /** The length of all pieces, including those that are dropped beyond the limit. */
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Whether the record would be longer than it may be with so many bytes more. */
  hasNoRoomFor(byteCount: number): boolean {
    return this.#length + byteCount > RECORD_BYTES_MAX;
  }

  get isTooLong(): boolean {
    return this.#length > RECORD_BYTES_MAX;
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#length += piece.length;
    if (this.isTooLong) this.#collector.clear();
    else this.#collector.add(piece);
  }

  /** Ends the record and returns it; null when it was too long. */
  take(): Buffer | null {
    const { isTooLong } = this;
    this.#length = 0;
    const whole = this.#collector.take();
    return isTooLong ? null : whole;
  }
}
