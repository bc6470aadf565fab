/**
 * The match key: by what a record and a book are the same, as text. It is read of a stored book as
 * of a record that comes, so that both agree.
 */
import { assert } from '../../../base/assert.ts';
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { readDatePublished, readIsbn, readMetadataWith } from '../../query/stored-fields.ts';
import { createTitleKey, readTitleKey } from '../../query/title-key.ts';
import { findOwnId, findSource } from '../mapping/metadata-source.ts';
import type { Match, SourceFormat } from './book-import.ts';

export interface MatchKeys {
  /** Null for a stored book that nothing can match. */
  readStored(bytes: Buffer): string | null;
  /** Null for members of a record that match nothing. */
  readMembers(members: JsonObject): string | null;
}

/** The keys of one way to match. `source` is of the format of the records. */
export function createMatchKeys(match: Match, source: SourceFormat | null): MatchKeys {
  switch (match) {
    case 'isbn': return { readStored: readIsbn, readMembers: ({ isbn }) => textOrNull(isbn) };
    case 'title': return TITLE_KEYS;
    case 'source':
      assert(source !== null, 'a format without own ids matches nothing by them');
      return createSourceKeys(source);
  }
}

const TITLE_KEYS: MatchKeys = {
  readStored(bytes) {
    const date = readDatePublished(bytes);
    // A date is a number YYYYMMDD.
    const year = date === null ? '' : String(Math.trunc(date / 10_000)).padStart(4, '0');
    return JSON.stringify([...readTitleKey(bytes), year]);
  },
  readMembers({ title, authors, datePublished }) {
    const author: unknown = Array.isArray(authors) ? authors[0] : undefined;
    const name = isJsonObject(author) ? author['name'] : undefined;
    const year = textOrNull(datePublished)?.slice(0, 4) ?? '';
    return JSON.stringify([
      ...createTitleKey(textOrNull(title) ?? '', textOrNull(name) ?? ''), year,
    ]);
  },
};

function createSourceKeys(source: SourceFormat): MatchKeys {
  // As it stands in the metadata of each book that came from this format: others are not parsed.
  const formatMember = `${JSON.stringify(source.format)}:{`;
  return {
    readStored: (bytes) => readOwnId(readMetadataWith(bytes, formatMember), source),
    readMembers: ({ metadata }) => readOwnId(metadata, source),
  };
}

function readOwnId(
  metadata: JsonValue | undefined | null, { format, ownIdFields }: SourceFormat,
): string | null {
  const fields = findSource(format, metadata);
  return fields === null ? null : findOwnId(fields, ownIdFields);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
