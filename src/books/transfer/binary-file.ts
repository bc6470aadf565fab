/** Files that are no text, by their first bytes and by their names: no reader is to print them. */
import { AppError } from '../../base/errors.ts';

type BinaryKind = {
  readonly endings: readonly string[];
  /** The first bytes, a byte a character. */
  readonly mark: string;
  /** The kind of the file, and the way to a file that can be read. */
  readonly advice: string;
};

/** Spreadsheets are zip files, too. */
const ZIP_MARK = 'PK\x03\x04';
const SPREADSHEET = 'a spreadsheet: save it as CSV there, and import that file';

const BINARY_KINDS: readonly BinaryKind[] = [
  { endings: ['.xlsx', '.xlsm', '.ods', '.numbers'], mark: ZIP_MARK, advice: SPREADSHEET },
  { endings: ['.xls'], mark: '\xd0\xcf\x11\xe0', advice: SPREADSHEET },
  {
    endings: ['.gz'], mark: '\x1f\x8b',
    advice: 'compressed (gzip): unpack it, gzip -d, and import what is within',
  },
  {
    endings: ['.pdf'], mark: '%PDF-',
    advice: 'a PDF: export the books as CSV, BibTeX or RIS, and import that file',
  },
];

/** A zip file that has such a name at its beginning is a spreadsheet. */
const SPREADSHEET_PART = /\[Content_Types\]\.xml|xl\/|opendocument\.spreadsheet|Index\//;
const ZIP = 'a zip file: unpack it, and import what is within';
const ZIP_HEAD_BYTES = 4096;
/** A text has no zero byte; few files of other kinds have none here. */
const ZERO_SEARCH_BYTES = 32;

/** The kind of a file with such a name, and what to do; null where the name tells of none. */
export function explainBinaryEnding(path: string): string | null {
  const lower = path.toLowerCase();
  if (lower.endsWith('.zip')) return ZIP;
  return BINARY_KINDS.find(({ endings }) => endings.some((ending) => lower.endsWith(ending)))
    ?.advice ?? null;
}

/** Throws `invalid` where the first bytes of a file are no text in an encoding of one byte. */
export function assertText(head: Buffer): void {
  const text = head.toString('latin1', 0, ZIP_HEAD_BYTES);
  const kind = BINARY_KINDS.find(({ mark }) => text.startsWith(mark));
  if (kind !== undefined) {
    const isZip = kind.mark === ZIP_MARK && !SPREADSHEET_PART.test(text);
    throw new AppError('invalid', `the file is ${isZip ? ZIP : kind.advice}`);
  }
  const start = text.slice(0, ZERO_SEARCH_BYTES);
  if (!start.includes('\0')) return;
  const utf16 = findUtf16(start);
  throw new AppError('invalid', utf16 === null
    ? 'the file is no text: look whether it is the right one, and export it again'
    : 'the file looks like UTF-16 without a byte order mark: save it as UTF-8, or name its '
      + `encoding, ${utf16}`);
}

/** The encoding of a text with every other byte zero; null for another. */
function findUtf16(start: string): string | null {
  if (/^(?:[^\0]\0){2,}/.test(start)) return 'utf-16le';
  return /^(?:\0[^\0]){2,}/.test(start) ? 'utf-16be' : null;
}
