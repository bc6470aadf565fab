/** Callers may write anything into `metadata.source`: each format is written and read anyway. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../../../src/base/schema.ts';
import { WRITTEN_FORMATS } from '../../../src/books/transfer/format-list.ts';
import { loadCodec } from '../../../src/books/transfer/formats.ts';
import { readText, writeText } from '../../support/format-round-trip.ts';
import { hostileBook, hostileText } from '../../support/hostile-books.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { createSeed } from '../../support/seed.ts';

const BOOKS = 10_000;
/** Names that the formats' tables read and write. */
const NAMES = [
  'citationkey', 'title', 'author', 'year', 'date', 'month', 'x-hookshelf', 'keywords', 'crossref',
  'entrytype', 'ID', 'TI', 'AU', 'PY', 'SN', 'KW', 'U5', 'TY', 'id', 'type', 'issued', 'custom',
  'ISBN', '@id', '@type', '@context', '@graph', 'name', 'isbn', 'bookFormat', 'hookshelf', 'family',
  'literal', 'date-parts', '@value', '@list', '__proto__', 'constructor', '',
];
const RESTS = [
  'hookshelf:{"title":null,"authors":[{}],"isbn":5}', '{"keywords":{},"authors":null,"nope":1}',
  'hookshelf:{"keywords":{}}', '{"title":5}', 'hookshelf:[', '[]',
];

for (const { name: format } of WRITTEN_FORMATS) {
  test(`a book with a made-up source is written as ${format}, and read`, async () => {
    const seed = createSeed();
    const random = createRandom(seed);
    const codec = await loadCodec(format);
    for (let number = 0; number < BOOKS; number += 1) {
      const source = { [format]: makeValue(random, 4) };
      const book = { ...hostileBook(random, number), metadata: { source } };
      const message = `${format}, book ${number} with seed ${seed}: ${JSON.stringify(book)}`;
      assert.doesNotThrow(() => {
        const records = readText(codec, writeText(codec, [book]));
        assert.deepEqual(records.map(({ problem }) => problem), [undefined]);
      }, message);
    }
  });
}

function makeValue(random: Random, depth: number): JsonValue {
  const kind = depth === 4 ? below(random, 10) : below(random, 8);
  if (kind === 0) return null;
  if (kind === 1) return below(random, 5_000);
  if (kind === 2) return below(random, 2) === 0;
  if (kind === 3) return hostileText(random);
  if (kind === 4) return RESTS[below(random, RESTS.length)] ?? '';
  if (depth === 0) return '';
  const makeInner = (): JsonValue => makeValue(random, depth - 1);
  if (kind === 5) return Array.from({ length: below(random, 4) }, makeInner);
  return Object.fromEntries(Array.from({ length: below(random, 6) }, () =>
    [NAMES[below(random, NAMES.length)] ?? '', makeInner()])) as JsonObject;
}
