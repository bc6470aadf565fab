/**
 * BibTeX, as btparse (biber), BibTeX and BibLaTeX read it.
 *
 *   file    = *( junk / comment / entry )
 *   junk    = any text without an entry; from `%` to the end of a line even with one
 *   comment = "@comment" body / "@preamble" body         ; skipped
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
 * wait for a parent beyond the limits of `bibtex-parents.ts`. A file that is nothing but junk,
 * comments aside, is broken at its first line. A name that is no `@string` stands for itself.
 */
import { isUtf8 } from 'node:buffer';
import type { BrokenRecord, FieldRecord, FieldSplitter } from '../mapping/format-table.ts';
import { BibtexStringTable, parseBibtexEntry } from './bibtex-entry.ts';
import type { BibtexEntry } from './bibtex-entry.ts';
import { BibtexParents, toFieldRecord } from './bibtex-parents.ts';
import { BibtexScanner } from './bibtex-scanner.ts';

/** Enough for the type and the key of a broken entry. */
const HEAD_BYTES = 400;
const NO_ENTRY = 'expected an entry of BibTeX, such as `@book{emma, title = {Emma}}`';

export class BibtexSplitter implements FieldSplitter {
  readonly #scanner: BibtexScanner;
  readonly #strings = new BibtexStringTable();
  readonly #parents = new BibtexParents();
  readonly #namesRead: ReadonlySet<string>;
  #records: (FieldRecord | BrokenRecord)[] = [];
  #entryCount = 0;

  /** `namesRead`: fields that come out in lower case; others keep the case that they have. */
  constructor(namesRead: ReadonlySet<string>) {
    this.#namesRead = namesRead;
    this.#scanner = new BibtexScanner({
      read: (bytes, line) => this.#readEntry(bytes, line),
      report: (bytes, line, problem) => this.#report(bytes, line, problem),
    });
  }

  push(chunk: Buffer): readonly (FieldRecord | BrokenRecord)[] {
    this.#strings.allow(chunk.length);
    this.#parents.allow(chunk.length);
    this.#scanner.push(chunk);
    return this.#take();
  }

  end(): readonly (FieldRecord | BrokenRecord)[] {
    this.#strings.allow(0);
    this.#scanner.end();
    this.#emit(this.#parents.end());
    const { junkLine } = this.#scanner;
    if (junkLine !== null) this.#records.push({ line: junkLine, key: null, problem: NO_ENTRY });
    return this.#take();
  }

  #take(): readonly (FieldRecord | BrokenRecord)[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  /** Whether the entry follows the grammar. */
  #readEntry(bytes: Buffer, line: number): boolean {
    if (!isUtf8(bytes)) {
      this.#report(bytes, line, 'not valid UTF-8');
      return false;
    }
    const parsed = parseBibtexEntry(bytes.toString(), line, this.#strings);
    if (parsed === null) return true;
    if ('problem' in parsed) {
      this.#report(bytes, line, parsed.problem);
      return false;
    }
    this.#entryCount += 1;
    this.#emit(this.#parents.add({ ...parsed, number: this.#entryCount }));
    return true;
  }

  #emit(entries: readonly (BibtexEntry | BrokenRecord)[]): void {
    for (const entry of entries) {
      // An entry that only lends its fields is no work of its own.
      if ('problem' in entry) this.#records.push(entry);
      else if (entry.type !== 'xdata') this.#records.push(toFieldRecord(entry, this.#namesRead));
    }
  }

  #report(bytes: Buffer, line: number, problem: string): void {
    const head = bytes.toString('utf8', 0, HEAD_BYTES);
    const key = /^@\s*[^\s{(]+\s*[{(]\s*([^\s,{}=]+)\s*,/.exec(head)?.[1] ?? null;
    this.#entryCount += 1;
    this.#records.push({ line, number: this.#entryCount, key, problem });
  }
}
