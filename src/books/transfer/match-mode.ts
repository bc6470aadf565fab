/**
 * How the records of a file are matched: what a caller asks for, by what the file's format has. Own
 * ids and our exports of a book are of the format alone, so the catalog takes them from here.
 */
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { FormatCodec } from './format-codec.ts';
import type { FormatName } from './format-list.ts';
import type { ImportMode } from './import-mode.ts';
import { createImportRecord } from './import-record.ts';
import type { Match, MatchMode, SourceFormat } from './matching/book-import.ts';

/** Throws `invalid` where records shall be matched by ids that the format has not. */
export function createMatchMode(
  format: FormatName, codec: FormatCodec, mode: ImportMode,
): MatchMode {
  const source = createSourceFormat(format, codec);
  if (mode.matches.includes('source') && source === null) {
    throw new AppError('invalid', `records of ${format} have no id of their source: `
      + 'match them by isbn or title');
  }
  const ownMatches = mode.matches.length === 0 ? [codec.defaultMatch ?? []].flat() : mode.matches;
  // A record without an ISBN has the id of its source, mostly.
  const matches: readonly Match[] = source === null || ownMatches.includes('source')
    ? ownMatches : [...ownMatches, 'source'];
  // A file of our own that nothing is matched by is taken in as it is. An ISBN alone is no news.
  const digestFormat = matches.length === 0 || format === 'isbn' ? null : format;
  const { onMatch, isDryRun, isVerbose } = mode;
  const isSameIdLeftAlone = matches.length === 0 && onMatch === null;
  return {
    matches, onMatch: onMatch ?? 'update', isSameIdLeftAlone, source, digestFormat, isDryRun,
    isVerbose,
  };
}

/** Null for a format whose records have no ids of their own. */
function createSourceFormat(format: FormatName, codec: FormatCodec): SourceFormat | null {
  const { table, isMadeOwnId = () => true } = codec;
  if (table === undefined || table.ownIdFields.length === 0) return null;
  const { ownIdFields, bookIdPrefix = null, bookIdField, exportOf = () => '' } = table;
  return {
    format, ownIdFields, exportOf, bookIdPrefix, isMadeOwnId,
    bookIdFields: bookIdField === undefined ? ownIdFields : [bookIdField],
    readExports: (bytes) => readExports(codec, bytes),
  };
}

/** See `SourceFormat`. A book that cannot be read back has no export: its records are edited. */
function* readExports(
  { createWriter, createReader, table }: FormatCodec, bytes: Buffer,
): Generator<JsonObject> {
  if (createWriter === undefined) return;
  const writer = createWriter({});
  const file = writer.begin() + writer.write([bytes]) + writer.end();
  for (const isWithoutRest of table?.restField === undefined ? [false] : [false, true]) {
    const reader = createReader({ hasAllTypes: true, isWithoutRest });
    // A reader may overwrite what it reads.
    const records = [...reader.push(Buffer.from(file)), ...reader.end()];
    const exportRecord = records.find((record) => record !== null && 'body' in record);
    if (exportRecord?.body !== undefined && exportRecord.titleProblem === undefined) {
      yield createImportRecord(exportRecord.body).fields;
    }
  }
}
