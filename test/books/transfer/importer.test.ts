/** What an import does with records that are too much for a transaction, and with their ids. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { Catalog } from '../../../src/books/catalog.ts';
import type { ImportRecord } from '../../../src/books/transfer/import-record.ts';
import { Importer, SeenIds } from '../../../src/books/transfer/importer.ts';

const TITLE_MAX = 10;

test('a batch that is too large goes in parts, and a record that is too is skipped', async () => {
  const batches: number[] = [];
  const catalog = {
    async importBatch(records: readonly ImportRecord[]) {
      const length = records.reduce((sum, { fields }) => sum + String(fields.title).length, 0);
      if (length > TITLE_MAX) throw new AppError('too_large', 'too much');
      batches.push(records.length);
      return records.map(() => ({ id: 'a', outcome: 'imported' as const }));
    },
  };
  const importer = new Importer(catalog as unknown as Catalog,
    { isReplacing: false, isDryRun: false });
  const titles = ['aaaa', 'bbbb', 'c'.repeat(TITLE_MAX + 1), 'dddd', 'eeee'];
  const lines = await importer.run(titles.map((title, index) =>
    ({ line: index + 1, json: Buffer.from(JSON.stringify({ title })) })));
  const results = lines.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(results.map(({ line, status }) => `${line} ${status}`),
    ['1 imported', '2 imported', '3 skipped', '4 imported', '5 imported']);
  assert.equal(results[2].detail, 'too much');
  assert.deepEqual(batches, [2, 2]);
  assert.deepEqual([importer.count.imported, importer.count.skipped, importer.failure],
    [4, 1, null]);
});

test('seen ids are known again, thousands of them', () => {
  const seen = new SeenIds();
  const ids = Array.from({ length: 20_000 }, (_, index) =>
    `018f2b7c-0000-7000-8000-${index.toString(16).padStart(12, '0')}`);
  assert.equal(ids.some((id) => seen.add(id)), false);
  assert.equal(ids.every((id) => seen.add(id)), true);
});
