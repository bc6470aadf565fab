/**
 * Gives entries of a BibTeX file the fields of those that they refer to: by `crossref`, where a
 * title becomes the title of the whole (BibLaTeX, appendix B), and by `xdata`. Of the parents of an
 * entry, and of theirs, the first 100 count, eight deep, and none twice on a way: a circle ends. An
 * entry whose parents are longer than an entry may be is a bad record, and so is one that takes
 * beyond what a file may. A parent is one of the first 250,000 entries with a key, and of one key
 * the first.
 *
 * An entry that has the fields of its parents needs them no more: its `xdata` goes, and its
 * `crossref` becomes an `xref`, which names the whole but gives no fields (BibLaTeX, 2.4.1). So its
 * book, exported without the parent's, does not wait for it when it is read again.
 */
import { AppError } from '../../../base/errors.ts';
import type { BrokenRecord } from '../mapping/format-table.ts';
import { RECORD_BYTES_MAX } from '../record-splitter.ts';
import { BibtexStringTable, FIELDS_MAX } from './bibtex-entry.ts';
import type { BibtexEntry, BibtexField } from './bibtex-entry.ts';
import { readBibtexEntries } from './bibtex-scanner.ts';

const PARENTS_MAX = 100;
const DEPTH_MAX = 8;
/** The keys that are remembered of a file, 100 bytes each. */
const KEYS_MAX = 250_000;
/** The bytes of a field besides its text, about. */
const FIELD_BYTES = 160;

/** How much of its parents an entry may still read. */
type Allowance = { parentsLeft: number; lengthLeft: number };

/** Whether the entry refers to others whose fields it takes. */
export function hasParents({ fields }: BibtexEntry): boolean {
  return fields.has('crossref') || fields.has('xdata');
}

/**
 * The offsets of a file's entries by their keys in lower case, as BibTeX compares keys. Yields null
 * after each step.
 */
export function* findEntryOffsets(
  bytes: Buffer, lengthMax: number,
): Generator<null, ReadonlyMap<string, number>, void> {
  const offsets = new Map<string, number>();
  for (const entry of readBibtexEntries(bytes, new BibtexStringTable(lengthMax))) {
    yield null;
    if (entry === null || 'problem' in entry || entry.key === null) continue;
    const key = entry.key.toLowerCase();
    if (offsets.size < KEYS_MAX && !offsets.has(key)) offsets.set(key, entry.offset);
  }
  return offsets;
}

export class BibtexParents {
  readonly #bytes: Buffer;
  readonly #offsets: ReadonlyMap<string, number>;
  readonly #strings: BibtexStringTable;
  /** How much all entries may still take from their parents. */
  #lengthLeft: number;

  /** `offsets`: where the entries of the file begin (`findEntryOffsets`). */
  constructor(
    bytes: Buffer, offsets: ReadonlyMap<string, number>, strings: BibtexStringTable,
    lengthMax: number,
  ) {
    this.#bytes = bytes;
    this.#offsets = offsets;
    this.#strings = strings;
    this.#lengthLeft = lengthMax;
  }

  /** The entry with the fields of its parents; broken where it takes more than it may. */
  complete(entry: BibtexEntry): BibtexEntry | BrokenRecord {
    const allowance = { parentsLeft: PARENTS_MAX, lengthLeft: RECORD_BYTES_MAX };
    try {
      return this.#inherit(entry, [entry.key?.toLowerCase() ?? ''], allowance);
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'invalid') throw thrown;
      return { line: entry.line, key: entry.key, problem: thrown.message };
    }
  }

  /** `way`: the keys of the entry and of those that it is a parent of, the next last. */
  #inherit(entry: BibtexEntry, way: readonly string[], allowance: Allowance): BibtexEntry {
    const keys = new Set([...readKeys(entry, 'xdata'), ...readKeys(entry, 'crossref').slice(0, 1)]);
    if (keys.size === 0 || way.length > DEPTH_MAX) return entry;
    const [crossrefKey] = readKeys(entry, 'crossref');
    const fields = new Map(entry.fields);
    const foundKeys = new Set<string>();
    for (const key of keys) {
      if (allowance.parentsLeft === 0) break;
      const ownParent = way.includes(key) ? null : this.#findEntry(key);
      if (ownParent === null) continue;
      foundKeys.add(key);
      this.#count(ownParent, allowance);
      const parent = this.#inherit(ownParent, [...way, key], allowance);
      for (const [name, field] of parent.fields) {
        const targets = key === crossrefKey
          ? namesInherited(name, parent.type, entry.type) : [name];
        for (const target of targets) {
          if (!canInherit(target, entry, fields)) continue;
          fields.set(target, { ...field, name: target === name ? field.name : target });
        }
      }
    }
    dropReferences(entry, foundKeys, fields);
    return { ...entry, fields };
  }

  #count(parent: BibtexEntry, allowance: Allowance): void {
    const length = parent.length + parent.fields.size * FIELD_BYTES;
    allowance.parentsLeft -= 1;
    allowance.lengthLeft -= parent.length;
    this.#lengthLeft -= length;
    if (allowance.lengthLeft < 0) throw new AppError('invalid', TOO_LONG_PARENTS);
    if (this.#lengthLeft < 0) throw new AppError('invalid', TOO_LONG_FIELDS);
  }

  #findEntry(key: string): BibtexEntry | null {
    const offset = this.#offsets.get(key);
    if (offset === undefined) return null;
    const entry = readBibtexEntries(this.#bytes.subarray(offset), this.#strings).next().value;
    return entry === null || entry === undefined || 'problem' in entry ? null : entry;
  }
}

const TOO_LONG_PARENTS =
  `the entries of its crossref and xdata are longer than ${RECORD_BYTES_MAX} bytes`;
const TOO_LONG_FIELDS = 'the entries of the file take too much from those of their crossref and '
  + 'xdata: divide the file';

/** Takes out the references of an entry whose parents have all been found. */
function dropReferences(
  entry: BibtexEntry, found: ReadonlySet<string>, fields: Map<string, BibtexField>,
): void {
  if (isResolved(entry, 'xdata', found)) fields.delete('xdata');
  const crossref = entry.fields.get('crossref');
  const xref = entry.fields.get('xref');
  if (crossref === undefined || !isResolved(entry, 'crossref', found)) return;
  fields.delete('crossref');
  fields.set('xref', { name: 'xref', values: [...xref?.values ?? [], ...crossref.values] });
}

function isResolved(entry: BibtexEntry, name: string, found: ReadonlySet<string>): boolean {
  const isOnly = entry.fields.get(name)?.values.length === 1;
  return isOnly && readKeys(entry, name).every((key) => found.has(key));
}

function readKeys(entry: BibtexEntry, name: string): readonly string[] {
  const [value] = entry.fields.get(name)?.values ?? [];
  if (value === undefined) return [];
  return value.toLowerCase().split(',').map((key) => key.trim()).filter((key) => key !== '');
}

/** Fields that say something of one entry alone. */
const NOT_INHERITED: ReadonlySet<string> = new Set([
  'crossref', 'xref', 'xdata', 'entryset', 'entrysubtype', 'execute', 'ids', 'indexsorttitle',
  'indextitle', 'label', 'options', 'presort', 'related', 'relatedoptions', 'relatedstring',
  'relatedtype', 'shortauthor', 'shorteditor', 'shorthand', 'shorthandintro', 'shorttitle',
  'sortkey', 'sorttitle', 'x-hookshelf',
]);
const TITLES: ReadonlySet<string> = new Set(['title', 'subtitle', 'titleaddon']);
const DATES: readonly string[] = ['date', 'year', 'month', 'day'];
const BOOKS: ReadonlySet<string> = new Set(['book', 'mvbook']);
const PARTS_OF_BOOKS: ReadonlySet<string> = new Set(['inbook', 'bookinbook', 'suppbook']);

/** The names that a field of the parent has in the child: BibLaTeX, appendix B. */
function namesInherited(name: string, parentType: string, childType: string): readonly string[] {
  if (name === 'author' && BOOKS.has(parentType) && PARTS_OF_BOOKS.has(childType)) {
    return ['author', 'bookauthor'];
  }
  if (!TITLES.has(name) || parentType === childType) return [name];
  if (parentType.startsWith('mv')) return [`main${name}`];
  if (parentType === 'periodical') return [`journal${name}`];
  return [`book${name}`];
}

function canInherit(
  name: string, entry: BibtexEntry, fields: ReadonlyMap<string, BibtexField>,
): boolean {
  if (fields.has(name) || NOT_INHERITED.has(name) || fields.size >= FIELDS_MAX) return false;
  // Parts of two dates make no date.
  return !DATES.includes(name) || !DATES.some((date) => entry.fields.has(date));
}
