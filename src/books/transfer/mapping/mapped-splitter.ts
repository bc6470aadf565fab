/** The books of a file whose format has a grammar and a table. */
import type { FormatCodec } from '../format-codec.ts';
import type { RecordSplitter, SourceRecord } from '../record-splitter.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter, FormatTable } from './format-table.ts';
import { mapRecord } from './map-record.ts';

/** The codec of such a format, which is only read unless a writer is put beside. */
export function createTableCodec(
  table: FormatTable, createSplitter: () => FieldSplitter,
): FormatCodec {
  const { ownIdFields, bookIdPrefix } = table;
  const createReader: FormatCodec['createReader'] = ({ hasAllTypes }) =>
    new MappedSplitter(createSplitter(), table, hasAllTypes);
  if (ownIdFields.length === 0) return { createReader };
  return bookIdPrefix === undefined
    ? { createReader, ownIdFields } : { createReader, ownIdFields, bookIdPrefix };
}

class MappedSplitter implements RecordSplitter {
  readonly #splitter: FieldSplitter;
  readonly #table: FormatTable;
  readonly #hasAllTypes: boolean;

  /** `hasAllTypes`: records of other types, such as articles, are taken for books too. */
  constructor(splitter: FieldSplitter, table: FormatTable, hasAllTypes: boolean) {
    this.#splitter = splitter;
    this.#table = table;
    this.#hasAllTypes = hasAllTypes;
  }

  push(chunk: Buffer): readonly SourceRecord[] {
    return this.#splitter.push(chunk).map((record) => this.#map(record));
  }

  end(): readonly SourceRecord[] {
    return this.#splitter.end().map((record) => this.#map(record));
  }

  #map(record: FieldRecord | BrokenRecord): SourceRecord {
    if ('problem' in record) return record;
    const { line, number, key, type } = record;
    const place = number === undefined ? { line, key } : { line, number, key };
    if (!this.#hasAllTypes && !this.#table.isBook(type)) return { ...place, otherType: type };
    return { ...place, ...mapRecord(this.#table, record) };
  }
}
