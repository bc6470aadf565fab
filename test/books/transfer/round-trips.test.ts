/**
 * Books that leave the catalog in a format and come back, and files that come in and leave again,
 * all of it through the API: `json -> f -> json` and `f -> json -> f`. The books are those of the
 * sample catalog and as awkward ones as a seed can make.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createSeed } from '../../support/seed.ts';
import type { JsonObject } from '../../../src/base/schema.ts';
import { WRITTEN_FORMATS } from '../../../src/books/transfer/format-list.ts';
import { startBookServer } from '../../support/book-server.ts';
import type { BookServer } from '../../support/book-server.ts';
import { foldSpace, namedInJsonld } from '../../support/format-round-trip.ts';
import { hostileBook } from '../../support/hostile-books.ts';
import { IS_LONG } from '../../support/long.ts';
import { below, createRandom } from '../../support/random.ts';

/** Each format has its own tests with more of them, without a server. */
const MADE_COUNT = IS_LONG ? 10_000 : 40;
/** These hold all that the catalog stores, ids and dates too. */
const OWN_FORMATS: readonly string[] = ['json', 'jsonl', 'csv'];
/** In these a run of white space is a blank. */
const FOLDING_FORMATS: readonly string[] = ['bibtex', 'ris'];
/** In these a book that came with no id of its source stands under its id in the catalog. */
const FORMATS_WITH_IDS: readonly string[] = ['csl', 'jsonld', 'ris'];

const samples = JSON.parse(readFileSync('data/samples/books.json', 'utf8')) as JsonObject[];

function makeBooks(seed: number): readonly JsonObject[] {
  const random = createRandom(seed);
  const made = Array.from({ length: MADE_COUNT }, (_, number) => {
    const book = hostileBook(random, number);
    if (below(random, 500) > 0) return book;
    const authors = Array.from({ length: 100 }, (_each, index) =>
      hostileBook(random, index)['authors']).flat().slice(0, 100);
    return { ...book, authors: authors as JsonObject[] };
  });
  return [...samples, ...made];
}

async function importFile(server: BookServer, format: string, file: string): Promise<JsonObject> {
  const answer = await server.ask('POST', `/api/books/import?format=${format}`, file);
  const lines = answer.text.trim().split('\n');
  assert.equal(answer.status, 200, answer.text);
  const count = JSON.parse(lines.at(-1) ?? '') as JsonObject;
  assert.equal(count['skipped'], 0, lines.find((line) => line.includes('"skipped"')));
  return count;
}

async function exportFile(server: BookServer, format: string): Promise<string> {
  const answer = await server.ask('GET', `/api/books?format=${format}`);
  assert.equal(answer.status, 200);
  return answer.text;
}

async function exportBooks(server: BookServer): Promise<readonly JsonObject[]> {
  return JSON.parse(await exportFile(server, 'json')) as JsonObject[];
}

/** What the format has to give back of a book. */
function comparable(book: JsonObject, format: string): unknown {
  if (OWN_FORMATS.includes(format)) return book;
  const { id, createdAt, updatedAt, metadata, ...allMembers } = book;
  const members = format === 'jsonld' ? namedInJsonld(allMembers) : allMembers;
  return FOLDING_FORMATS.includes(format) ? foldSpace(members) : members;
}

for (const { name: format } of WRITTEN_FORMATS) {
  test(`books come back from ${format} as they went, and so does the file`, async () => {
    const seed = createSeed();
    const servers = await Promise.all([startBookServer(), startBookServer(), startBookServer()]);
    const [first, second, third] = servers;
    try {
      const books = makeBooks(seed);
      await importFile(first, 'jsonl', books.map((book) => `${JSON.stringify(book)}\n`).join(''));
      const before = await exportBooks(first);
      const file = await exportFile(first, format);
      const { imported } = await importFile(second, format, file);
      assert.equal(imported, books.length);
      const after = await exportBooks(second);
      for (const [index, book] of before.entries()) {
        assert.deepEqual(comparable(after[index] ?? {}, format), comparable(book, format),
          `${format}, book ${index} with seed ${seed}`);
      }
      await importFile(third, 'json', await exportFile(second, 'json'));
      const fileAgain = await exportFile(third, format);
      assertSameLines(fileAgain, file, `${format} with seed ${seed}`);
      if (!OWN_FORMATS.includes(format)) await assertAgainIsTheSame(second, format, file);
      if (FORMATS_WITH_IDS.includes(format)) await assertAgainIsTheSame(first, format, file);
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  });
}

/** The first line that differs says more than two files. */
function assertSameLines(actual: string, expected: string, message: string): void {
  const lines = expected.split('\n');
  for (const [index, line] of actual.split('\n').entries()) {
    assert.equal(line, lines[index], `${message}, line ${index + 1}`);
  }
  assert.equal(actual.length, expected.length, message);
}

async function assertAgainIsTheSame(
  server: BookServer, format: string, file: string,
): Promise<void> {
  const before = await exportFile(server, 'json');
  const { imported, updated, unchanged } = await importFile(server, format, file);
  assert.deepEqual({ imported, updated }, { imported: 0, updated: 0 });
  assert.equal(unchanged, file === '' ? 0 : JSON.parse(before).length);
  assert.equal(await exportFile(server, 'json'), before);
}
