/** Writes the books of a format that has a table, one record after another. */
import { decodeBook } from '../../book.ts';
import type { Book } from '../../book.ts';
import type { BookWriter } from '../format-codec.ts';

export type EncodedFields = {
  readonly text: string;
  /** Whether the book has metadata that the format does not hold. */
  readonly leavesOut: boolean;
};

/** The text around and between the records of a file. */
type FileFrame = {
  readonly begin: string; readonly separator: string; readonly end: string;
};

export function createMappedWriter(
  encode: (book: Book) => EncodedFields, frame: FileFrame,
): BookWriter {
  let leftOutCount = 0;
  let isFirst = true;
  const write = (bytes: Buffer): string => {
    const { text, leavesOut } = encode(decodeBook(bytes));
    if (leavesOut) leftOutCount += 1;
    const separator = isFirst ? '' : frame.separator;
    isFirst = false;
    return separator + text;
  };
  return {
    get leftOutCount() {
      return leftOutCount;
    },
    begin: () => frame.begin,
    write: (books) => books.map(write).join(''),
    end: () => frame.end,
  };
}
