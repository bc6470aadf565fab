/**
 * Makes the rows of a format's table: the member, the fields that may say it, and the reader of
 * their texts. A format says once for all its rows how a field holds texts and how one is written.
 */
import { assert } from '../../../base/assert.ts';
import type { Book } from '../../book.ts';
import { joinTitle, readFirst, splitTitle } from './field-text.ts';
import type { FieldTexts, TextReader } from './field-text.ts';
import { findMember, part, whole } from './format-table.ts';
import type {
  BookMember, FieldRecord, MemberRow, RowValue, WrittenFields,
} from './format-table.ts';
import { readRichText } from './html-text.ts';

type ListTexts = (record: FieldRecord, name: string) => FieldTexts;

/** The value of a member that is no object. */
type PlainValue = string | number | readonly string[];

/** Makes a field of a value; none where it would say nothing. */
type EncodeField = (name: string, value: PlainValue) => WrittenFields;

type RowMaker = {
  /** A row for each field: the value of its first text that has one. The first field is written. */
  textRows(
    member: BookMember, names: string | readonly string[], read?: TextReader,
  ): readonly MemberRow[];
  /** One row: the value of all texts of the fields. The first field is written, or by `write`. */
  listRow(
    member: BookMember, names: readonly string[],
    read: (texts: readonly string[]) => RowValue | undefined, write?: (book: Book) => WrittenFields,
  ): MemberRow;
  /** A row of its own kind. */
  recordRow(
    member: BookMember, names: readonly string[],
    read: (record: FieldRecord) => RowValue | undefined, write?: (book: Book) => WrittenFields,
  ): MemberRow;
  /** The rows of title and subtitle, which one field says; the first field that is there counts. */
  titleRows(names: readonly string[]): readonly MemberRow[];
};

/** `encode`: absent in formats that are only read. */
export function createRowMaker(listTexts: ListTexts, encode?: EncodeField): RowMaker {
  const addWrite = (row: MemberRow, getValue: (book: Book) => PlainValue | undefined): MemberRow =>
    encode === undefined ? row : {
      ...row,
      write(book) {
        const value = getValue(book);
        const isEmpty = value === undefined || (typeof value === 'object' && value.length === 0);
        return isEmpty ? [] : encode(row.from[0] ?? '', value);
      },
    };
  const addMemberWrite = (row: MemberRow): MemberRow => {
    const { member } = row;
    if (encode === undefined) return row;
    const isPlain = !UNPLAIN_MEMBERS.includes(member);
    assert(isPlain, `a row of \`${member}\` needs a \`write\` of its own`);
    return addWrite(row, (book) => findPlainValue(book, member));
  };
  return {
    textRows: (member, names, read) => [names].flat().map((name, index) => {
      const row: MemberRow =
        { member, from: [name], read: (record) => readFirst(listTexts(record, name), read) };
      return index === 0 ? addMemberWrite(row) : row;
    }),
    listRow(member, names, read, write) {
      const row: MemberRow = {
        member, from: names,
        read(record) {
          const fields = names.map((name) => listTexts(record, name));
          const value = read(fields.flatMap(({ texts }) => texts));
          const isAll = fields.every(({ isWhole }) => isWhole);
          return value === undefined || isAll ? value : part(value.value);
        },
      };
      return write === undefined ? addMemberWrite(row) : { ...row, write };
    },
    recordRow: (member, names, read, write) => ({
      member, from: names, read, ...write === undefined ? {} : { write },
    }),
    titleRows: (names) => names.flatMap((name, index) => {
      const earlierNames = names.slice(0, index);
      const read = (piece: number) => (record: FieldRecord): RowValue | undefined =>
        earlierNames.some((earlier) => record.fields.has(earlier))
          ? undefined : readTitle(listTexts(record, name), piece);
      const title: MemberRow = { member: 'title', from: [name], read: read(0) };
      const subtitle: MemberRow = { member: 'subtitle', from: [name], read: read(1) };
      return index > 0 ? [title, subtitle]
        : [addWrite(title, (book) => joinTitle(book.title, book.subtitle)), subtitle];
    }),
  };
}

/** The members whose values no text of a field is. */
const UNPLAIN_MEMBERS: readonly BookMember[] = ['authors', 'series', 'reading.owned'];

function findPlainValue(book: Book, member: BookMember): PlainValue | undefined {
  const value = findMember(book, member);
  if (typeof value === 'string' || typeof value === 'number') return value;
  return Array.isArray(value) ? value.map(String) : undefined;
}

/** A piece of the first text: its title, or its subtitle. */
function readTitle(
  { texts: [first = '', ...others], isWhole }: FieldTexts, index: number,
): RowValue | undefined {
  const title = readRichText(first);
  const pieces = splitTitle(String(title.value));
  const piece = pieces[index];
  if (piece === undefined) return undefined;
  // With a subtitle the title says a part: where the model refuses the other, the field is kept.
  const isAll = index === pieces.length - 1 && title.isWhole && isWhole && others.length === 0;
  return isAll ? whole(piece) : part(piece);
}
