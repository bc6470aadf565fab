/** The sample catalog that ships with the program: a file of the package, or in the binary. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';

/** JSON, as in `data/samples/books.json`. */
export function readSample(): Buffer {
  if (isSea()) return Buffer.from(getAsset('books.json'));
  return readFileSync(join(import.meta.dirname, '../../../../data/samples/books.json'));
}
