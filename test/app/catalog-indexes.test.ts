/** The catalog in the status of an app, and its indexes in the metrics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { indexMetrics } from '../../src/app/service-metrics.ts';
import type { IndexReport } from '../../src/books/index/index-host.ts';
import type { ServiceStatus } from '../../src/monitoring/monitoring-schema.ts';
import { openHookshelf } from '../support/embedded.ts';
import { parseExposition } from '../support/exposition.ts';

test('an index is reported once a query has needed it, in status and metrics alike',
  async (context) => {
    const { shelf, readIndexes, readGauge } = await openShelf(context);
    await shelf.books.list({ sort: '-id' });
    await shelf.books.list({ isbn: '9780141439587' });
    assert.deepEqual(await readIndexes(), [], 'it is no word that was looked for');
    assert.deepEqual(await readGauge(), []);
    // A correction comes from the complete index.
    await shelf.books.list({ q: 'emna' });
    const [report, ...others] = await readIndexes();
    assert.deepEqual(others, []);
    assert.deepEqual(report, { index: 'words', bytes: report?.bytes, state: 'ready' });
    assert.deepEqual(await readGauge(), [['{index="words"}', report?.bytes]]);
    await shelf.books.list({ sort: 'title', hasIsbn: false });
    const names = (await readIndexes()).map(({ index }) => index);
    assert.deepEqual(names, ['words', 'title', 'hasIsbn-column']);
  });

test('the status counts the records that imports have dealt with, whatever became of them',
  async (context) => {
    const { shelf, readStatus } = await openShelf(context);
    const file = Buffer.from('title\nA\n""\nB\n');
    const importCsv = (query: string): Promise<unknown> =>
      shelf.request('POST', `/api/books/import?format=csv${query}`, file);
    assert.equal((await readStatus()).catalog.importedRecords, 0);
    await importCsv('&dryRun=true');
    assert.equal((await readStatus()).catalog.importedRecords, 3);
    await importCsv('');
    assert.equal((await readStatus()).catalog.importedRecords, 6);
  });

test('the gauge has a sample for each index', () => {
  const gauges = indexMetrics({
    hasOutgrownWords: true,
    listReports: () => [
      { index: 'words', bytes: 5, state: 'ready' }, { index: 'title', bytes: 7, state: 'making' },
    ],
  });
  const gauge = gauges.at(-1);
  assert.equal(gauge?.name, 'hookshelf_catalog_index_bytes');
  assert.deepEqual(gauge.read(), [
    { labels: { index: 'words' }, value: 5 }, { labels: { index: 'title' }, value: 7 },
  ]);
});

type Shelf = Awaited<ReturnType<typeof openHookshelf>>;

async function openShelf(context: TestContext): Promise<{
  readonly shelf: Shelf;
  readonly readStatus: () => Promise<ServiceStatus>;
  readonly readIndexes: () => Promise<readonly IndexReport[]>;
  /** Labels and value of each sample. */
  readonly readGauge: () => Promise<readonly (readonly [string, number])[]>;
}> {
  const shelf = await openHookshelf(context);
  await shelf.books.add({ title: 'Emma' });
  const readStatus = async (): Promise<ServiceStatus> =>
    (await shelf.request('GET', '/api/status')).body as ServiceStatus;
  return {
    shelf, readStatus,
    readIndexes: async () => (await readStatus()).catalog.indexes,
    async readGauge() {
      const { body } = await shelf.request('GET', '/metrics');
      const family = parseExposition(String(body)).get('hookshelf_catalog_index_bytes');
      assert.equal(family?.type, 'gauge');
      return [...family.samples];
    },
  };
}
