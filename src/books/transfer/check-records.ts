/**
 * A dry run of an import where there is no catalog yet: the same results as from
 * `POST /api/books/import?dryRun=true` of an empty catalog, without making a store.
 */
import { encodeJson } from '../../base/json/encode.ts';
import { openBookFile } from './book-file.ts';
import type { FileEncoding } from './decode-text.ts';
import type { FormatName } from './format-list.ts';
import type { ImportMode } from './import-mode.ts';
import { Importer } from './importer.ts';
import { createMatchMode } from './match-mode.ts';
import { openEmptyDryRun } from './matching/catalog-import.ts';

/** Yields JSON Lines: what the file is, a result for each record, in order, and the count. */
export async function* checkRecords(
  source: AsyncIterable<Buffer>, format: FormatName, declared: FileEncoding | null,
  mode: ImportMode, now: () => number,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await openBookFile(source, format, mode, declared);
  try {
    const dryRun = openEmptyDryRun(createMatchMode(format, file.codec, mode), now);
    const importer = new Importer(dryRun, mode);
    const { encoding } = file;
    yield encode({ format, encoding });
    for await (const records of file.readRecords()) yield Buffer.from(await importer.run(records));
    // Later bytes may have told another than the first line says.
    const isOther = file.encoding !== encoding;
    yield encode({ ...importer.count, ...isOther ? { encoding: file.encoding } : {} });
  } finally {
    await file.close();
  }
}

function encode(value: object): Buffer {
  return Buffer.from(`${encodeJson(value)}\n`);
}
