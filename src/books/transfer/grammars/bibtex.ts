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
 * A file is read whole, up to 64 MiB, as an entry may take fields from one that stands after it. No
 * more is held than the file and the record that is read; where an entry refers to others, also
 * where the entries begin, by their keys: some 100 bytes each.
 */
import { AppError } from '../../../base/errors.ts';
import type { JsonValue } from '../../../base/schema.ts';
import type { BrokenRecord, FieldRecord, FieldSplitter } from '../mapping/format-table.ts';
import { BibtexStringTable, TYPE_FIELD } from './bibtex-entry.ts';
import type { BibtexEntry } from './bibtex-entry.ts';
import { BibtexParents, findEntryOffsets, hasParents } from './bibtex-parents.ts';
import { readBibtexEntries } from './bibtex-scanner.ts';

const FILE_BYTES_MAX = 64 * 1024 * 1024;
const TOO_LARGE = `the file is longer than ${FILE_BYTES_MAX} bytes, which is the most for BibTeX: `
  + 'divide it, parents with their children';
/** Room for most files. A longer one gets room for the longest at once, so that it moves once. */
const SMALL_FILE_BYTES = 256 * 1024;
const EMPTY: Buffer = Buffer.alloc(0);
/** The length that entries of a file may take from strings and parents, and how many times. */
const BORROWED_LENGTH_MAX = 24 * 1024 * 1024;
const BORROWED_TIMES_MAX = 16;

type BibtexRecord = FieldRecord | BrokenRecord;

export class BibtexSplitter implements FieldSplitter {
  readonly #namesRead: ReadonlySet<string>;
  /** In one piece: to join many would take as much memory again. */
  #bytes = EMPTY;
  #length = 0;

  /** `namesRead`: fields that come out in lower case; others keep the case that they have. */
  constructor(namesRead: ReadonlySet<string>) {
    this.#namesRead = namesRead;
  }

  /** Throws `too_large` for a file that is longer than it may be. */
  push(chunk: Buffer): readonly BibtexRecord[] {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) this.#makeRoom(length);
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    return [];
  }

  *end(): Generator<BibtexRecord | null, void, void> {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#bytes = EMPTY;
    const lengthMax = BORROWED_LENGTH_MAX + bytes.length * BORROWED_TIMES_MAX;
    const strings = new BibtexStringTable(lengthMax);
    let parents: BibtexParents | null = null;
    for (const entry of readBibtexEntries(bytes, strings)) {
      if (entry === null || 'problem' in entry) {
        yield entry;
      } else if (entry.type === 'xdata') {
        // An entry that only lends its fields is no work of its own.
        yield null;
      } else if (hasParents(entry)) {
        parents ??= new BibtexParents(
          bytes, yield* findEntryOffsets(bytes, lengthMax), strings, lengthMax);
        const whole = parents.complete(entry);
        yield 'problem' in whole ? whole : this.#toRecord(whole, strings);
      } else {
        yield this.#toRecord(entry, strings);
      }
    }
  }

  #makeRoom(length: number): void {
    if (length > FILE_BYTES_MAX) {
      this.#bytes = EMPTY;
      throw new AppError('too_large', TOO_LARGE);
    }
    // The system gives no memory for what is not written.
    const larger = Buffer.allocUnsafeSlow(
      length <= SMALL_FILE_BYTES ? SMALL_FILE_BYTES : FILE_BYTES_MAX);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  #toRecord(
    { line, key, type, fields }: BibtexEntry, { macros }: BibtexStringTable,
  ): FieldRecord {
    const values = new Map<string, JsonValue>();
    if (type !== 'book') values.set(TYPE_FIELD, type);
    for (const [lowerCaseName, field] of fields) {
      const texts = field.values.map((value) => macros.expand(value));
      const [first = ''] = texts;
      const name = this.#namesRead.has(lowerCaseName) ? lowerCaseName : field.name;
      values.set(name, texts.length === 1 ? first : texts);
    }
    return { line, key, type, fields: values };
  }
}
