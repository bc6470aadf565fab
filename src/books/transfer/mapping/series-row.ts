/**
 * The row of a format that has a field for the name of one series and a field for the place of the
 * book in it, as bibliographies have. Of several series the first is written.
 */
import type { Book } from '../../book.ts';
import type { FieldTexts, TextReader } from './field-text.ts';
import { readFirst } from './field-text.ts';
import { part, whole } from './format-table.ts';
import type { FieldRecord, MemberRow, RowValue, WrittenFields } from './format-table.ts';

type SeriesFields = {
  readonly nameField: string;
  readonly positionField: string;
  readonly listTexts: (record: FieldRecord, name: string) => FieldTexts;
  readonly readName?: TextReader;
  /** Makes a field of a text; none where nothing would be left of it. */
  readonly encode: (name: string, text: string) => WrittenFields;
};

const POSITION = /^(?:0|[1-9][0-9]{0,5})(?:\.[0-9]{0,2}[1-9])?$/;

export function createSeriesRow(
  { nameField, positionField, listTexts, readName = whole, encode }: SeriesFields,
): MemberRow {
  return {
    member: 'series', from: [nameField, positionField],
    read(record): RowValue | undefined {
      const name = readFirst(listTexts(record, nameField), readName);
      if (name === undefined) return undefined;
      const positions = listTexts(record, positionField);
      const position = readFirst(positions, readPosition);
      const isPositionWhole =
        position?.isWhole ?? (positions.isWhole && positions.texts.length === 0);
      const series = position === undefined
        ? { name: name.value } : { name: name.value, position: position.value };
      return name.isWhole && isPositionWhole ? whole([series]) : part([series]);
    },
    write({ series: [first] = [] }: Book): WrittenFields {
      const name = first === undefined ? [] : encode(nameField, first.name);
      if (name.length === 0 || first?.position === undefined) return name;
      return [...name, ...encode(positionField, String(first.position))];
    },
  };
}

/** A number as it is written: of `04` or `4-6` the field says more than a position. */
function readPosition(text: string): RowValue | undefined {
  return POSITION.test(text) ? whole(Number(text)) : undefined;
}
