/** A book as the catalog's model takes it. */
import { parseObject } from '../../src/base/fields.ts';
import type { JsonObject } from '../../src/base/schema.ts';
import { bookSchema } from '../../src/books/book.ts';

/** Throws `invalid`. */
export function parseBook(value: unknown): JsonObject {
  return parseObject(bookSchema, value);
}
