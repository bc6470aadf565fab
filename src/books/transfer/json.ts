/** Books as JSON: one array (json), or one book a line (jsonl), as the catalog stores them. */
import type { BookWriter, FormatCodec } from './format-codec.ts';
import { JsonLinesSplitter, JsonSplitter } from './json-splitter.ts';

export const jsonCodec: FormatCodec = {
  createReader: () => new JsonSplitter(),
  // Values may stand one after another: none is no books, as in JSON Lines.
  canBeEmpty: true,
  createWriter: createJsonWriter,
};

export const jsonLinesCodec: FormatCodec = {
  createReader: () => new JsonLinesSplitter(),
  canBeEmpty: true,
  createWriter: () => ({
    leftOutCount: 0,
    begin: () => '',
    write: (books) => books.map((book) => `${book.toString()}\n`).join(''),
    end: () => '',
  }),
};

function createJsonWriter(): BookWriter {
  let separator = '';
  return {
    leftOutCount: 0,
    begin: () => '[',
    write(books) {
      let text = '';
      for (const book of books) {
        text += `${separator}\n${book.toString()}`;
        separator = ',';
      }
      return text;
    },
    end: () => '\n]\n',
  };
}
