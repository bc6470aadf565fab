/**
 * A file format of other programs, as data. A grammar cuts a file into field records; the rows of a
 * format's table say which member of a book is read from which fields, and how it is written into
 * them. `map-record.ts` and `write-record.ts` walk the table.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import type { Book, Reading } from '../../book.ts';
import { READING_PREFIX } from '../../book-members.ts';

/** The fields of a record under the names of its format; values as the file has them. */
export type Fields = ReadonlyMap<string, JsonValue>;

/** A record as its file has it, before it is mapped to a book. */
export type FieldRecord = {
  /** On which it begins, from 1. */
  readonly line: number;
  /** The source's name for the record (its own id), by which messages name it too. */
  readonly key: string | null;
  /** The format's word for its kind, such as `incollection`; empty where there are no kinds. */
  readonly type: string;
  readonly fields: Fields;
};

/** A record whose grammar is broken. */
export type BrokenRecord = {
  readonly line: number; readonly key: string | null;
  /** The mistake, and where in the record. */
  readonly problem: string;
};

/** Cuts a stream of UTF-8 into field records, wherever its chunks end, with bounded memory. */
export interface FieldSplitter {
  /** The records that end in `chunk`. Throws `invalid` where no record can be read at all. */
  push(chunk: Buffer): readonly (FieldRecord | BrokenRecord)[];
  /** The records that the end of the stream completes; see `RecordSplitter`. */
  end(): Iterable<FieldRecord | BrokenRecord | null>;
}

/** The field records that are read from the items of another splitter. */
export function mapSplitter<Item>(
  splitter: { push(chunk: Buffer): readonly Item[]; end(): readonly Item[] },
  read: (item: Item) => readonly (FieldRecord | BrokenRecord)[],
): FieldSplitter {
  return {
    push: (chunk) => splitter.push(chunk).flatMap((item) => read(item)),
    end: () => splitter.end().flatMap((item) => read(item)),
  };
}

/** A member of a book by its path: of `reading` each member has rows of its own. */
export type BookMember =
  | Exclude<keyof Book,
    'id' | 'createdAt' | 'updatedAt' | 'mergedIds' | 'metadata' | 'reading'>
  | ReadingMember;
type ReadingMember = `reading.${keyof Reading}`;

/** The name of the member within `reading`; null for a member of the book itself. */
export function findReadingName(member: string): string | null {
  return member.startsWith(READING_PREFIX) ? member.slice(READING_PREFIX.length) : null;
}

/** The value that members of a book have at the path. */
export function findMember(members: JsonObject, member: BookMember): JsonValue | undefined {
  const name = findReadingName(member);
  if (name === null) return members[member];
  const reading = members['reading'];
  return isJsonObject(reading) ? reading[name] : undefined;
}

/** The result of a row: a value for its member, which the model has not checked yet. */
export type RowValue = {
  /** Null where the fields say nothing, such as a rating of 0: the member stays absent. */
  readonly value: JsonValue;
  /** Whether it says all that its fields say; else they are kept in `metadata.source` too. */
  readonly isWhole: boolean;
  /** Whether more could be meant, as by `3/11/2018`: a person is told; absent: not. */
  readonly isDoubtful?: true;
};

/** A value that says all that its fields say. */
export function whole(value: JsonValue): RowValue {
  return { value, isWhole: true };
}

/** A value that says less than its fields, which are kept in `metadata.source`. */
export function part(value: JsonValue): RowValue {
  return { value, isWhole: false };
}

/** Fields of a record that is written. */
export type WrittenFields = readonly (readonly [name: string, value: JsonValue])[];

export type MemberRow = {
  readonly member: BookMember;
  /** The fields that it reads; none for a member that follows from the record's kind. */
  readonly from: readonly string[];
  /**
   * Whether its fields may say again what an earlier row has read: where they do, the member holds
   * them too. Else they are kept as what the source has beside it.
   */
  readonly isRepetition?: boolean;
  /** Undefined where the fields say nothing of the member. */
  read(record: FieldRecord): RowValue | undefined;
  /** The fields that say the member; absent in formats that are only read. */
  write?(book: Book): WrittenFields;
};

export type FormatTable = {
  /** The format's name, and its member of `metadata.source`. */
  readonly name: string;
  /** Several rows may read one member: the first counts whose value the model accepts. */
  readonly rows: readonly MemberRow[];
  /** The names under which `metadata.source` holds the own id; the first is written. */
  readonly ownIdFields: readonly string[];
  /**
   * The text before the id of the book in the own id of a record that is written of a book
   * without one; absent: a record never has the id of a book.
   */
  readonly bookIdPrefix?: string;
  /** The name under which `metadata.source` holds the id of a book; absent: it is the own id. */
  readonly bookIdField?: string;
  /** The field that holds, as JSON, the members that its other fields cannot say; absent: none. */
  readonly restField?: string;
  /**
   * The export of the program that has a field of that name, where it has several, each with names
   * of its own: the fields of one stand beside those of another. Absent: there is one export.
   */
  readonly exportOf?: (name: string) => string;
  /** Whether its texts keep runs of white space; in others one is a blank. */
  readonly keepsSpace?: boolean;
  /** Whether a record of this kind is a book; absent: all are. Others come by `hasAllTypes`. */
  isBook?(type: string): boolean;
  /** Whether a file may have the field with this value; without it every one. */
  readonly mayHold?: (name: string, value: JsonValue) => boolean;
};
