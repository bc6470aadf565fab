/** What an import does with its records, one by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.ts';
import type { ImportRecord } from '../../../src/books/transfer/import-record.ts';
import { Importer } from '../../../src/books/transfer/importer.ts';

const TITLE_MAX = 10;

test('a batch that is too large goes in parts, and a record that is too is skipped', async () => {
  const batches: number[] = [];
  const catalog = {
    async importBatch(records: readonly ImportRecord[]) {
      const length = records.reduce((sum, { fields }) => sum + String(fields.title).length, 0);
      if (length > TITLE_MAX) throw new AppError('too_large', 'too much');
      batches.push(records.length);
      return records.map(() => ({ id: 'a', outcome: 'imported' as const, leftOut: [] }));
    },
    close() {},
  };
  const importer = new Importer(catalog, { isDryRun: false, isVerbose: false });
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

test('a record that is too large is named by number and key; none is after a refusal', async () => {
  const problems = [new AppError('too_large', 'too much'), new AppError('unavailable', 'full')];
  const catalog = {
    importBatch: () => Promise.reject(problems.shift() ?? new Error('not asked again')),
    close() {},
  };
  const importer = new Importer(catalog, { isDryRun: false, isVerbose: false });
  const texts: string[] = [];
  for (const line of [1, 4, 7]) {
    texts.push(await importer.run(
      [{ line, key: `k${line}`, body: { title: 'a' }, leftOut: [] }]));
  }
  const [first = '', ...others] = texts;
  assert.deepEqual(JSON.parse(first),
    { line: 1, record: 1, key: 'k1', status: 'skipped', id: null, detail: 'too much' });
  assert.deepEqual([...others, importer.failure, importer.count.skipped], ['', '', 'full', 1]);
});

test('a brief report names what could not be imported, a thousand records at most', async () => {
  const catalog = {
    importBatch: (records: readonly ImportRecord[]) => Promise.resolve(records.map(({ id }) =>
      ({ id: id ?? 'a', outcome: id === null ? 'imported' as const : 'exists' as const,
        leftOut: [] }))),
    close() {},
  };
  const importer = new Importer(catalog, { isDryRun: false, isVerbose: false }, true);
  const records = [
    '{"title":"new"}', '{"id":"01980000-0000-7000-8000-000000000001","title":"there"}',
    ...Array.from({ length: 1500 }, () => '{}'),
  ];
  const lines = await importer.run(records.map((json, index) =>
    ({ line: index + 1, json: Buffer.from(json) })));
  const results = lines.trimEnd().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual([results.length, results[0].line, results[999].line], [1000, 3, 1002]);
  assert.deepEqual([importer.count.imported, importer.count.existing, importer.count.skipped],
    [1, 1, 1501]);
});
