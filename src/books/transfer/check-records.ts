/**
 * A dry run of an import where there is no catalog yet: the same results as from
 * `POST /api/books/import?dryRun=true` of an empty catalog, without making a store.
 */
import { AssertionError } from '../../base/assert.ts';
import { Importer } from './importer.ts';
import type { ImportCatalog } from './importer.ts';
import { JsonLinesSplitter } from './record-splitter.ts';

const EMPTY_CATALOG: ImportCatalog = {
  has: () => false,
  importBatch: () => Promise.reject(new AssertionError('a dry run stores nothing')),
};

/** `records` are JSON Lines; yields JSON Lines: a result for each, in order, and the count. */
export async function* checkRecords(
  records: AsyncIterable<Buffer>, isReplacing: boolean,
): AsyncGenerator<Buffer, void, undefined> {
  const importer = new Importer(EMPTY_CATALOG, { isReplacing, isDryRun: true });
  const splitter = new JsonLinesSplitter();
  for await (const chunk of records) {
    yield Buffer.from(await importer.run(splitter.push(chunk)));
  }
  yield Buffer.from(await importer.run(splitter.end()));
  yield Buffer.from(`${JSON.stringify(importer.count)}\n`);
}
