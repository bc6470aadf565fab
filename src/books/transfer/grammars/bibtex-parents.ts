/**
 * Gives entries of a BibTeX file the fields of those that they refer to: by `crossref`, where a
 * title becomes the title of the whole (BibLaTeX, appendix B), and by `xdata`, of which the first
 * 100 count. An entry that waits for a later one is held back: at most 10,000 entries and 16 MiB;
 * one more is a bad record, and so is one that takes from its parents beyond what one chunk may. Of
 * earlier entries the newest 4 MiB are remembered. At the end of the file
 * an entry whose parent has not come is read as it stands, and so are those whose parents go in a
 * circle: none takes from another of them, whichever comes first.
 *
 * An entry that has the fields of its parents needs them no more: its `xdata` goes, and its
 * `crossref` becomes an `xref`, which names the whole but gives no fields (BibLaTeX, 2.4.1). So its
 * book, exported without the parent's, does not wait for it when it is read again.
 */
import type { JsonValue } from '../../../base/schema.ts';
import type { BrokenRecord, FieldRecord } from '../mapping/format-table.ts';
import { FIELDS_MAX, TYPE_FIELD } from './bibtex-entry.ts';
import type { BibtexEntry, BibtexField } from './bibtex-entry.ts';

const WAITING_MAX = 10_000;
const WAITING_LENGTH_MAX = 16 * 1024 * 1024;
const REMEMBERED_LENGTH_MAX = 4 * 1024 * 1024;
const PARENTS_MAX = 100;
/** The bytes that a key takes that an entry waits for, about. */
const KEY_MEMORY = 160;
/** The most that entries of one chunk take from their parents besides. */
const INHERITED_LENGTH_MAX = 24 * 1024 * 1024;
/** The most fields of parents that are looked at for one chunk, and one more for so many bytes. */
const INHERITED_FIELDS_MAX = 100_000;
const BYTES_PER_INHERITED_FIELD = 10;
/** The bytes of an inherited field besides its text, which it shares with its parent's. */
const FIELD_LENGTH = 40;
/** The bytes of a remembered field besides its text, about. */
const FIELD_MEMORY = 160;

/** An entry that waits no more. */
type ReleasedEntry = {
  readonly entry: BibtexEntry;
  /** For whom it waited last; null: nobody, or one that has not come. */
  readonly lastParent: BibtexEntry | null;
  /** The keys of parents that it takes nothing from; absent: there are none. */
  readonly ignoredParents?: ReadonlySet<string>;
};

/** An entry that waits, and the keys of the parents that it waits for. */
type WaitingEntry = {
  readonly entry: BibtexEntry;
  readonly missing: Set<string>;
  /** The length of the entry with those keys. */
  readonly length: number;
};

export class BibtexParents {
  readonly #remembered = new Map<string, BibtexEntry>();
  #rememberedLength = 0;
  /** By the keys that they wait for. */
  readonly #waiting = new Map<string, WaitingEntry[]>();
  /** The keys of entries that wait. */
  readonly #waitingEntries = new Set<WaitingEntry>();
  #waitingLength = 0;
  #inheritedLengthLeft = 0;
  #inheritedFieldsLeft = 0;

  /** Lets the entries of a chunk take from their parents. */
  allow(chunkLength: number): void {
    this.#inheritedLengthLeft = INHERITED_LENGTH_MAX + chunkLength;
    this.#inheritedFieldsLeft =
      INHERITED_FIELDS_MAX + Math.floor(chunkLength / BYTES_PER_INHERITED_FIELD);
  }

  /** The entries that this one completes: itself, unless it waits, and those that waited for it. */
  add(entry: BibtexEntry): readonly (BibtexEntry | BrokenRecord)[] {
    const missing = new Set(listParents(entry)
      .filter((key) => key !== entry.key?.toLowerCase() && !this.#remembered.has(key)));
    if (missing.size === 0) return this.#complete([{ entry, lastParent: null }]);
    const { line, number, key } = entry;
    const length = entry.length + missing.size * KEY_MEMORY;
    if (this.#waitingEntries.size >= WAITING_MAX
      || this.#waitingLength + length > WAITING_LENGTH_MAX) {
      const problem = `more than ${WAITING_MAX} entries, or ${WAITING_LENGTH_MAX} bytes, wait for `
        + 'the entry of their crossref: write it before them';
      return [{ line, number, key, problem }];
    }
    const waitingEntry = { entry, missing, length };
    this.#waitingEntries.add(waitingEntry);
    this.#waitingLength += length;
    for (const parentKey of missing) {
      const others = this.#waiting.get(parentKey);
      if (others === undefined) this.#waiting.set(parentKey, [waitingEntry]);
      else others.push(waitingEntry);
    }
    return [];
  }

  /** The entries that still wait, as they stand. */
  end(): readonly (BibtexEntry | BrokenRecord)[] {
    this.allow(0);
    const completed: (BibtexEntry | BrokenRecord)[] = [];
    const keys = new Set([...this.#waitingEntries].map(({ entry }) => entry.key?.toLowerCase()));
    // First those whose parents are not in the file: others may wait for them.
    for (const parentKey of [...this.#waiting.keys()]) {
      if (!keys.has(parentKey)) completed.push(...this.#complete(this.#release(parentKey, null)));
    }
    const circles = this.#findCircles();
    for (const waitingEntry of circles) this.#waitingEntries.delete(waitingEntry);
    const ignoredParents = new Set(circles.flatMap(({ missing }) => [...missing]));
    completed.push(...this.#complete(circles.map(({ entry }) =>
      ({ entry, lastParent: null, ignoredParents }))));
    // The others wait for a bad record.
    for (const waitingEntry of this.#waitingEntries) {
      this.#waitingEntries.delete(waitingEntry);
      completed.push(...this.#complete([{ entry: waitingEntry.entry, lastParent: null }]));
    }
    this.#waiting.clear();
    return completed;
  }

  /** The entries whose parents go in a circle: those left when all without children are gone. */
  #findCircles(): readonly WaitingEntry[] {
    const entries = new Set(this.#waitingEntries);
    const entriesByKey = new Map<string | undefined, WaitingEntry[]>();
    const childCounts = new Map<string | undefined, number>();
    for (const waitingEntry of entries) {
      const key = waitingEntry.entry.key?.toLowerCase();
      const others = entriesByKey.get(key);
      if (others === undefined) entriesByKey.set(key, [waitingEntry]);
      else others.push(waitingEntry);
      for (const parentKey of waitingEntry.missing) {
        childCounts.set(parentKey, (childCounts.get(parentKey) ?? 0) + 1);
      }
    }
    const childlessKeys = [...entriesByKey.keys()].filter((key) => !childCounts.has(key));
    // It grows meanwhile.
    for (const key of childlessKeys) {
      for (const waitingEntry of entriesByKey.get(key) ?? []) {
        entries.delete(waitingEntry);
        for (const parentKey of waitingEntry.missing) {
          const count = (childCounts.get(parentKey) ?? 0) - 1;
          childCounts.set(parentKey, count);
          if (count === 0) childlessKeys.push(parentKey);
        }
      }
    }
    return [...entries];
  }

  #complete(entries: readonly ReleasedEntry[]): (BibtexEntry | BrokenRecord)[] {
    const completed: (BibtexEntry | BrokenRecord)[] = [];
    const queue = [...entries];
    // It grows meanwhile.
    for (const next of queue) {
      const whole = this.#inherit(next);
      completed.push(whole);
      if ('problem' in whole || whole.key === null) continue;
      const key = whole.key.toLowerCase();
      const parent = this.#remember(key, whole);
      for (const child of this.#release(key, parent)) queue.push(child);
    }
    return completed;
  }

  /** The entries that waited for this parent last. */
  #release(parentKey: string, parent: BibtexEntry | null): ReleasedEntry[] {
    const waitingEntries = this.#waiting.get(parentKey) ?? [];
    this.#waiting.delete(parentKey);
    const released: ReleasedEntry[] = [];
    for (const waitingEntry of waitingEntries) {
      waitingEntry.missing.delete(parentKey);
      if (waitingEntry.missing.size > 0 || !this.#waitingEntries.delete(waitingEntry)) continue;
      this.#waitingLength -= waitingEntry.length;
      released.push({ entry: waitingEntry.entry, lastParent: parent });
    }
    return released;
  }

  /** Returns the entry for those that wait for it: the copy, whose fields need no other copy. */
  #remember(key: string, entry: BibtexEntry): BibtexEntry {
    if (this.#remembered.has(key)) return entry;
    const copy = copyEntry(entry);
    this.#remembered.set(copyText(key), copy);
    this.#rememberedLength += memoryOf(entry);
    for (const [oldestKey, oldest] of this.#remembered) {
      if (this.#rememberedLength <= REMEMBERED_LENGTH_MAX) break;
      this.#remembered.delete(oldestKey);
      this.#rememberedLength -= memoryOf(oldest);
    }
    return copy;
  }

  /** The entry with the fields of its parents. */
  #inherit({ entry, lastParent, ignoredParents }: ReleasedEntry): BibtexEntry | BrokenRecord {
    const keys = listParents(entry);
    if (keys.length === 0) return entry;
    const crossrefKey = readKeys(entry, 'crossref')[0];
    const fields = new Map(entry.fields);
    const found = new Set<string>();
    let inheritedLength = 0;
    for (const key of keys) {
      const parent = key === lastParent?.key?.toLowerCase()
        ? lastParent : this.#remembered.get(key);
      if (parent === undefined || key === entry.key?.toLowerCase()) continue;
      if (ignoredParents?.has(key) === true) continue;
      found.add(key);
      // Looked at before the fields are, as those that are passed over take time, too.
      this.#inheritedFieldsLeft -= parent.fields.size;
      if (this.#inheritedFieldsLeft < 0) return breakRecord(entry, TOO_MANY_FIELDS);
      for (const [name, field] of parent.fields) {
        const target = key === crossrefKey ? nameInherited(name, parent.type, entry.type) : name;
        if (!canInherit(target, entry, fields)) continue;
        fields.set(target, { ...field, name: target === name ? field.name : target });
        inheritedLength += lengthOf(field);
      }
    }
    dropReferences(entry, found, fields);
    this.#inheritedLengthLeft -= inheritedLength;
    if (this.#inheritedLengthLeft >= 0) {
      return { ...entry, fields, length: entry.length + inheritedLength };
    }
    return breakRecord(entry, TOO_LONG_FIELDS);
  }
}

const TOO_MANY_FIELDS = `the entries take more than ${INHERITED_FIELDS_MAX} fields at once from `
  + 'their crossref or xdata: write it before them';
const TOO_LONG_FIELDS =
  `the entries take more than ${INHERITED_LENGTH_MAX} bytes from their crossref`;

function breakRecord({ line, number, key }: BibtexEntry, problem: string): BrokenRecord {
  return { line, number, key, problem };
}

/** The keys of an entry's parents, in lower case: BibTeX compares them so. */
function listParents(entry: BibtexEntry): readonly string[] {
  const xdataKeys = [...new Set(readKeys(entry, 'xdata'))].slice(0, PARENTS_MAX);
  return [...new Set([...xdataKeys, ...readKeys(entry, 'crossref').slice(0, 1)])];
}

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
  const [value = ''] = entry.fields.get(name)?.values ?? [];
  return value.toLowerCase().split(',').map((key) => key.trim()).filter((key) => key !== '');
}

/** Fields that say something of one entry alone. */
const NOT_INHERITED: ReadonlySet<string> = new Set([
  'crossref', 'xref', 'xdata', 'entryset', 'entrysubtype', 'execute', 'ids', 'label', 'options',
  'presort', 'related', 'relatedoptions', 'relatedstring', 'relatedtype', 'shortauthor',
  'shorteditor', 'shorthand', 'shorthandintro', 'sortkey', 'x-hookshelf',
]);
const TITLES: ReadonlySet<string> = new Set(['title', 'subtitle', 'titleaddon']);
const DATES: readonly string[] = ['date', 'year', 'month', 'day'];

/** The name that a field of the parent has in the child. */
function nameInherited(name: string, parentType: string, childType: string): string {
  if (!TITLES.has(name) || parentType === childType) return name;
  if (parentType.startsWith('mv')) return `main${name}`;
  if (parentType === 'periodical') return name.replace('title', 'journaltitle');
  return `book${name}`;
}

function canInherit(
  name: string, entry: BibtexEntry, fields: ReadonlyMap<string, BibtexField>,
): boolean {
  if (fields.has(name) || NOT_INHERITED.has(name) || fields.size >= FIELDS_MAX) return false;
  // Parts of two dates make no date.
  return !DATES.includes(name) || !DATES.some((date) => entry.fields.has(date));
}

function lengthOf({ name, values }: BibtexField): number {
  return values.reduce((length, value) => length + value.length, name.length + FIELD_LENGTH);
}

/** A copy that does not keep the text alive that the entry was read from, or its parents'. */
function copyEntry(entry: BibtexEntry): BibtexEntry {
  const fields = new Map<string, BibtexField>();
  for (const [key, field] of entry.fields) {
    if (field.isCopy === true) fields.set(key, field);
    else fields.set(copyText(key), copyField(field));
  }
  const key = entry.key === null ? null : copyText(entry.key);
  return { ...entry, key, type: copyText(entry.type), fields };
}

function copyField({ name, values }: BibtexField): BibtexField {
  return { name: copyText(name), values: values.map(copyText), isCopy: true };
}

function copyText(text: string): string {
  return Buffer.from(text).toString();
}

function memoryOf({ fields }: BibtexEntry): number {
  let length = FIELD_MEMORY;
  for (const field of fields.values()) length += lengthOf(field) + FIELD_MEMORY;
  return length;
}

export function toFieldRecord(
  { line, number, key, type, fields }: BibtexEntry, namesRead: ReadonlySet<string>,
): FieldRecord {
  const values = new Map<string, JsonValue>();
  if (type !== 'book') values.set(TYPE_FIELD, type);
  for (const [lowerCaseName, field] of fields) {
    const [first = ''] = field.values;
    const name = namesRead.has(lowerCaseName) ? lowerCaseName : field.name;
    values.set(name, field.values.length === 1 ? first : field.values);
  }
  return { line, number, key, type, fields: values };
}
