/**
 * A program that reads one file of books, which is made as it is read, and says what that took:
 * `{ books, broken, growthBytes, cpuMs }`, where the growth is over a file of one record.
 * Arguments: format; the text before, in and after the file, of which the second is said again
 * until there are so many megabytes, with a number of its own in the place of each `%N`.
 */
import { openBookFile } from '../../src/books/transfer/book-file.ts';
import type { FormatName } from '../../src/books/transfer/format-list.ts';

const CHUNK_BYTES = 65_536;
const [format = '', start = '', piece = '', end = '', megabytes = ''] = process.argv.slice(2);

await read(1);
const before = process.memoryUsage.rss();
const startUsage = process.cpuUsage();
const count = await read(Number(megabytes) * 1_000_000);
const { user, system } = process.cpuUsage(startUsage);
process.stdout.write(JSON.stringify({
  ...count, growthBytes: process.resourceUsage().maxRSS * 1024 - before,
  cpuMs: Math.round((user + system) / 1000),
}));

async function read(bytes: number): Promise<{ readonly books: number; readonly broken: number }> {
  const options = { hasAllTypes: false };
  const file = await openBookFile(makeFile(bytes), format as FormatName, options);
  let books = 0;
  let broken = 0;
  for await (const records of file.readRecords()) {
    for (const record of records) {
      if (record.problem !== undefined) broken += 1;
      else books += 1;
    }
  }
  return { books, broken };
}

async function* makeFile(bytes: number): AsyncGenerator<Buffer> {
  yield Buffer.from(start);
  // A short piece is said often enough to make the number cheap.
  const isNumbered = piece.includes('%N');
  const repeated = isNumbered ? piece : piece.repeat(Math.max(1, bytes > 1 ? 1024 : 1));
  let number = 0;
  for (let sent = 0; sent < bytes;) {
    let text = '';
    do {
      text += isNumbered ? repeated.replaceAll('%N', String(number)) : repeated;
      number += 1;
    } while (text.length < Math.min(CHUNK_BYTES, bytes));
    sent += text.length;
    yield Buffer.from(text);
  }
  yield Buffer.from(end);
}
