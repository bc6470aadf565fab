/** The books of a file whose format has a grammar and a table. */
import type { FormatCodec, ReaderOptions } from '../format-codec.ts';
import type { RecordSplitter, SourceRecord } from '../record-splitter.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter, FormatTable } from './format-table.ts';
import { mapRecord } from './map-record.ts';

/** The codec of such a format, which is only read unless a writer is put beside. */
export function createTableCodec(
  table: FormatTable, createSplitter: () => FieldSplitter,
): FormatCodec {
  return { table, createReader: (options) => new MappedSplitter(createSplitter(), table, options) };
}

class MappedSplitter implements RecordSplitter {
  readonly #splitter: FieldSplitter;
  readonly #table: FormatTable;
  readonly #options: ReaderOptions;

  constructor(splitter: FieldSplitter, table: FormatTable, options: ReaderOptions) {
    this.#splitter = splitter;
    this.#table = table;
    this.#options = options;
  }

  push(chunk: Buffer): readonly SourceRecord[] {
    return this.#splitter.push(chunk).map((record) => this.#map(record));
  }

  *end(): Generator<SourceRecord | null, void, void> {
    for (const record of this.#splitter.end()) yield record === null ? null : this.#map(record);
  }

  #map(record: FieldRecord | BrokenRecord): SourceRecord {
    if ('problem' in record) return record;
    const { line, key, type } = record;
    const { hasAllTypes, isWithoutRest = false } = this.#options;
    if (!hasAllTypes && this.#table.isBook?.(type) === false) return { line, key, otherType: type };
    const read = isWithoutRest ? this.#dropRest(record) : record;
    return { line, key, ...mapRecord(this.#table, read) };
  }

  #dropRest(record: FieldRecord): FieldRecord {
    const fields = new Map(record.fields);
    fields.delete(this.#table.restField ?? '');
    return { ...record, fields };
  }
}
