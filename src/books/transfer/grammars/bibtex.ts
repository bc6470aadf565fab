/**
 * BibTeX, as btparse (biber), BibTeX and BibLaTeX read it.
 *
 *   file    = *( junk / comment / entry )
 *   junk    = any text without an entry; from `%` to the end of a line even with one
 *   comment = "@comment" body / "@preamble" body         ; skipped, but for a preamble's macros
 *   entry   = "@" type ( "{" content "}" / "(" content ")" )
 *   content = [key] *( "," field ) [","]                 ; of `@string`: field [","]
 *   field   = name "=" piece *( "#" piece )
 *   piece   = "{" text "}" / DQUOTE text DQUOTE / digits / name   ; a name stands for its `@string`
 *
 * Types and names of fields and strings have no case. White space, and comments from `%` to the end
 * of a line, may stand between all parts. Text is LaTeX and stays as it is; its braces are balanced
 * (a backslash before one changes nothing), and a quote stands within braces in it.
 *
 * An entry is valid when its braces close and its content follows the grammar. A broken one is
 * reported, and reading goes on at the next `@` at a line's start after its own, even within what
 * it had swallowed; there, until the swallowed text ends, an `@` at a line's start always begins an
 * entry, so that each byte is read twice at most. Other failures: an entry of more than 2 MiB, also
 * with its strings; one that is not UTF-8; a `@string` beyond 1 MiB or 10,000 of them; entries that
 * take from others beyond the limits of `bibtex-parents.ts`. A file that is nothing but junk,
 * comments aside, is broken at its first line. A name that is no `@string` stands for itself.
 *
 * A file is read whole, up to 64 MiB, as an entry may take fields from one that stands after it: a
 * file in which one does is gone through twice.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../../base/errors.ts';
import type { JsonValue } from '../../../base/schema.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter } from '../mapping/format-table.ts';
import { BibtexStringTable, TYPE_FIELD, parseBibtexEntry } from './bibtex-entry.ts';
import type { BibtexEntry } from './bibtex-entry.ts';
import { BibtexParents } from './bibtex-parents.ts';
import { BibtexScanner } from './bibtex-scanner.ts';
import type { EntryPlace } from './bibtex-scanner.ts';
import { EntryOffsets } from './entry-offsets.ts';

const FILE_BYTES_MAX = 64 * 1024 * 1024;
const TOO_LARGE = `the file is longer than ${FILE_BYTES_MAX} bytes, which is the most for BibTeX: `
  + 'divide it, parents with their children';
/** Room for most files. A longer one gets room for the longest at once, so that it moves once. */
const SMALL_FILE_BYTES = 256 * 1024;
/** What the entries of a file take from strings, and from parents: so much, and so many times. */
const BORROWED_LENGTH_MAX = 24 * 1024 * 1024;
const BORROWED_TIMES_MAX = 16;
const REFERENCE = /crossref|xdata/i;
const REFERENCE_LENGTH_MAX = 8;
/** Enough for the type and the key of a broken entry. */
const HEAD_BYTES = 400;
const NO_ENTRY = 'expected an entry of BibTeX, such as `@book{emma, title = {Emma}}`';

type BibtexRecord = FieldRecord | BrokenRecord;

export class BibtexSplitter implements FieldSplitter {
  readonly #file = new FileBytes();
  readonly #namesRead: ReadonlySet<string>;
  /** Whether the text so far has the name of a reference, and its end, where one may begin. */
  #hasReferences = false;
  #textEnd = '';

  /** `namesRead`: fields that come out in lower case; others keep the case that they have. */
  constructor(namesRead: ReadonlySet<string>) {
    this.#namesRead = namesRead;
  }

  /** Throws `too_large` for a file that is longer than it may be. */
  push(chunk: Buffer): readonly BibtexRecord[] {
    this.#file.add(chunk);
    if (this.#hasReferences) return [];
    const text = this.#textEnd + chunk.toString('latin1');
    this.#hasReferences = REFERENCE.test(text);
    this.#textEnd = text.slice(-REFERENCE_LENGTH_MAX);
    return [];
  }

  *end(): Generator<BibtexRecord | null, void, void> {
    const { entriesMax } = this.#file;
    const bytes = this.#file.take();
    const lengthMax = BORROWED_LENGTH_MAX + bytes.length * BORROWED_TIMES_MAX;
    const offsets = new EntryOffsets(this.#hasReferences ? entriesMax : 0);
    if (this.#hasReferences) yield* findOffsets(bytes, lengthMax, offsets);
    const strings = new BibtexStringTable(lengthMax);
    const parents = new BibtexParents((key) => {
      for (const offset of offsets.find(key)) {
        const entry = parseEntryAt(bytes, offset, strings);
        if (entry?.key?.toLowerCase() === key) return entry;
      }
      return null;
    }, lengthMax);
    const reader = new RecordReader(strings, parents, this.#namesRead);
    const scanner = new BibtexScanner(bytes, reader);
    for (const _ of scanner.scan()) yield reader.take();
    const { junkLine } = scanner;
    if (junkLine !== null) yield { line: junkLine, key: null, problem: NO_ENTRY };
  }
}

/** The bytes of a file, in one piece: to join many would take as much memory again. */
class FileBytes {
  #bytes: Buffer = EMPTY;
  #length = 0;
  #atCount = 0;

  /** The most entries that the file can have. */
  get entriesMax(): number {
    return Math.min(this.#atCount, this.#length / ENTRY_BYTES_MIN);
  }

  /** Throws `too_large` for a file that is longer than it may be. */
  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) this.#makeRoom(length);
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    // An iterator takes six times as long: 430 ms for the longest file.
    for (let offset = 0; offset < chunk.length; offset += 1) {
      if (chunk[offset] === AT) this.#atCount += 1;
    }
  }

  /** All bytes so far. There are none afterwards. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = EMPTY;
    this.#length = 0;
    this.#atCount = 0;
    return bytes;
  }

  #makeRoom(length: number): void {
    if (length > FILE_BYTES_MAX) {
      this.take();
      throw new AppError('too_large', TOO_LARGE);
    }
    // The system gives no memory for what is not written.
    const larger = Buffer.allocUnsafeSlow(
      length <= SMALL_FILE_BYTES ? SMALL_FILE_BYTES : FILE_BYTES_MAX);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

const EMPTY: Buffer = Buffer.alloc(0);
const AT = 0x40;
/** As `@a{b}` has. */
const ENTRY_BYTES_MIN = 5;

/** Finds where the entries begin, by their keys in lower case. */
function* findOffsets(
  bytes: Buffer, lengthMax: number, offsets: EntryOffsets,
): Generator<null, void, void> {
  const strings = new BibtexStringTable(lengthMax);
  const read = (place: EntryPlace): boolean => {
    const entry = parseEntry(place, strings);
    if (entry === null || 'problem' in entry) return entry === null;
    if (entry.key !== null) offsets.add(entry.key.toLowerCase(), place.offset);
    return true;
  };
  for (const _ of new BibtexScanner(bytes, { read, report() {} }).scan()) yield null;
}

/** Reads a valid entry again. */
function parseEntryAt(
  bytes: Buffer, offset: number, strings: BibtexStringTable,
): BibtexEntry | null {
  let found: BibtexEntry | null = null;
  const read = (place: EntryPlace): boolean => {
    const entry = parseEntry(place, strings);
    if (entry !== null && !('problem' in entry)) found = entry;
    return true;
  };
  new BibtexScanner(bytes.subarray(offset), { read, report() {} }).scan().next();
  return found;
}

function parseEntry(
  { bytes, line }: EntryPlace, strings: BibtexStringTable,
): BibtexEntry | { readonly problem: string } | null {
  if (!isUtf8(bytes)) return { problem: 'not valid UTF-8' };
  return parseBibtexEntry(bytes.toString(), line, strings);
}

/** Makes records of the entries that a scanner finds. */
class RecordReader {
  readonly #strings: BibtexStringTable;
  readonly #parents: BibtexParents;
  readonly #namesRead: ReadonlySet<string>;
  #record: BibtexRecord | null = null;

  constructor(
    strings: BibtexStringTable, parents: BibtexParents, namesRead: ReadonlySet<string>,
  ) {
    this.#strings = strings;
    this.#parents = parents;
    this.#namesRead = namesRead;
  }

  /** The record of the last step; null: it had none. */
  take(): BibtexRecord | null {
    const record = this.#record;
    this.#record = null;
    return record;
  }

  /** Whether the entry follows the grammar. */
  read(place: EntryPlace): boolean {
    const entry = parseEntry(place, this.#strings);
    if (entry === null) return true;
    if ('problem' in entry) {
      this.report(place, entry.problem);
      return false;
    }
    // An entry that only lends its fields is no work of its own.
    if (entry.type === 'xdata') return true;
    try {
      this.#record = this.#toRecord(this.#parents.complete(entry));
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'invalid') throw thrown;
      this.report(place, thrown.message);
    }
    return true;
  }

  report({ bytes, line }: EntryPlace, problem: string): void {
    const head = bytes.toString('utf8', 0, HEAD_BYTES);
    const key = /^@\s*[^\s{(]+\s*[{(]\s*([^\s,{}=]+)\s*,/.exec(head)?.[1] ?? null;
    this.#record = { line, key, problem };
  }

  #toRecord({ line, key, type, fields }: BibtexEntry): FieldRecord {
    const values = new Map<string, JsonValue>();
    if (type !== 'book') values.set(TYPE_FIELD, type);
    for (const [lowerCaseName, field] of fields) {
      const texts = field.values.map((value) => this.#strings.macros.expand(value));
      const [first = ''] = texts;
      const name = this.#namesRead.has(lowerCaseName) ? lowerCaseName : field.name;
      values.set(name, texts.length === 1 ? first : texts);
    }
    return { line, key, type, fields: values };
  }
}
