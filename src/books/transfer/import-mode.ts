/** How a file is imported: what a caller asks for, and what that means for the file's format. */
import { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { FormatCodec } from './format-codec.ts';
import type { FormatName } from './format-list.ts';
import { parseImportRecord } from './import-record.ts';
import type { Match, MatchMode, OnMatch, SourceFormat } from './matching/book-import.ts';

export const MATCHES: readonly Match[] = ['isbn', 'title', 'source'];
export const ON_MATCH: readonly OnMatch[] = ['skip', 'update', 'replace'];

export type ImportMode = {
  /** Null: by what the format's records are known again, if by anything. */
  readonly match: Match | null;
  readonly onMatch: OnMatch;
  /** Whether records of other types, such as articles, are taken for books too. */
  readonly hasAllTypes: boolean;
  /** Whether everything is checked and reported as usual, but nothing is stored. */
  readonly isDryRun: boolean;
};

/** What is done with books that match; null where the two ways to say it contradict each other. */
export function combineOnMatch(onMatch: OnMatch | null, isReplacing: boolean): OnMatch | null {
  if (!isReplacing) return onMatch ?? 'update';
  return onMatch === null || onMatch === 'replace' ? 'replace' : null;
}

/** Throws `invalid` where records shall be matched by ids that the format has not. */
export function createMatchMode(
  format: FormatName, codec: FormatCodec, mode: ImportMode,
): MatchMode {
  const source = createSourceFormat(format, codec);
  if (mode.match === 'source' && source === null) {
    throw new AppError('invalid', `records of ${format} have no id of their source: `
      + 'match them by isbn or title');
  }
  const match = mode.match ?? codec.defaultMatch ?? (source === null ? null : 'source');
  return { match, onMatch: mode.onMatch, source, isDryRun: mode.isDryRun };
}

function createSourceFormat(format: FormatName, codec: FormatCodec): SourceFormat | null {
  const { ownIdFields, bookIdPrefix } = codec;
  if (ownIdFields === undefined) return null;
  return {
    format, ownIdFields, bookIdPrefix: bookIdPrefix ?? null,
    readExports: (bytes) => readExports(codec, bytes),
  };
}

/** See `SourceFormat`. A book that cannot be read back has no export: its records are edited. */
function* readExports(
  { createWriter, createReader, hasRestField = false }: FormatCodec, bytes: Buffer,
): Generator<JsonObject> {
  if (createWriter === undefined) return;
  const writer = createWriter({});
  const file = writer.begin() + writer.write([bytes]) + writer.end();
  for (const isWithoutRest of hasRestField ? [false, true] : [false]) {
    const reader = createReader({ hasAllTypes: true, isWithoutRest });
    // A reader may overwrite what it reads.
    const [record] = [...reader.push(Buffer.from(file)), ...reader.end()];
    const exported = record === undefined || !('body' in record) ? null : parseBody(record.body);
    if (exported !== null) yield exported;
  }
}

function parseBody(body: JsonObject): JsonObject | null {
  try {
    return parseImportRecord(body).fields;
  } catch (thrown) {
    if (thrown instanceof AppError) return null;
    throw thrown;
  }
}
