/**
 * The citation keys of the books of one answer: the family of the first author and the year,
 * `LeGuin1969`, then `LeGuin1969a`, `LeGuin1969b` and so on in id order: where the answer has
 * another order, keys are assigned before it begins. A key that a book brought along stays: such
 * keys are reserved before the first is given, so that no book before it takes it. Keys are ASCII
 * (imported ones are what they are), and differ in more than case.
 *
 * A whole catalog may be one answer, so of each key only 8 bytes are remembered: 40 bits of a hash
 * and how many letters have been tried after it. Two keys of one hash do no harm: the second gets a
 * letter that it does not need. A table grows in 64 parts, each by a quarter when it is 9/10 full:
 * 12 bytes a book at most. In an order other than that of the ids, as much is remembered of each
 * book whose key has letters: a hash of its id, and which letters.
 */
import { assert } from '../../../base/assert.ts';
import type { Book } from '../../book.ts';
import { splitAuthor } from '../mapping/person-name.ts';

const WORD_LENGTH_MAX = 40;

export class CitationKeys {
  readonly #tables = createTables();
  /** Which letters follow the key of a book, by its id; null: no keys were assigned. */
  #triesById: readonly KeyTable[] | null = null;

  /** Keeps the key that a book brought along for the first that brings it. */
  reserve(importedKey: string): void {
    const hash = hashKey(importedKey);
    if (KEY.test(importedKey)) this.#getTable(hash).reserve(hash);
  }

  /** Assigns the key of a book that is added later, in whatever order; to be called in id order. */
  assign(book: Book, importedKey: string | null): void {
    const { base, tries } = this.#create(book, importedKey, false);
    this.#triesById ??= createTables();
    const hash = hashKey(tries === null ? base : book.id);
    if (tries === null) this.#getTable(hash).mark(hash, ASSIGNED_BIT);
    else getTable(this.#triesById, hash).setTries(hash, tries);
  }

  /** The key of the next book. `importedKey`: what its source called it; null: nothing. */
  add(book: Book, importedKey: string | null): string {
    const { base, tries } = this.#create(book, importedKey, this.#triesById !== null);
    return tries === null ? base : base + toLetters(tries);
  }

  #create(book: Book, importedKey: string | null, isAssigned: boolean): CitationKey {
    const isImported = importedKey !== null && KEY.test(importedKey);
    const base = isImported ? importedKey : createBase(book);
    const assignedTries = isAssigned ? this.#findTries(book.id) : null;
    if (assignedTries !== null) return { base, tries: assignedTries };
    const hash = hashKey(base);
    const table = this.#getTable(hash);
    if (isAssigned && table.takeMark(hash, ASSIGNED_BIT)) return { base, tries: null };
    if (isImported && table.takeMark(hash, RESERVED_BIT)) return { base, tries: null };
    if (table.add(hash)) return { base, tries: null };
    for (;;) {
      const tries = table.countTry(hash);
      if (this.#claim(base + toLetters(tries))) return { base, tries };
    }
  }

  #findTries(id: string): number | null {
    const hash = hashKey(id);
    return this.#triesById === null ? null : getTable(this.#triesById, hash).findTries(hash);
  }

  /** About how much memory the keys take. */
  get bytes(): number {
    return [...this.#tables, ...this.#triesById ?? []]
      .reduce((bytes, table) => bytes + table.bytes, 0);
  }

  /** Whether no book had the key before. */
  #claim(key: string): boolean {
    const hash = hashKey(key);
    return this.#getTable(hash).add(hash);
  }

  #getTable(hash: KeyHash): KeyTable {
    return getTable(this.#tables, hash);
  }
}

/** Whether an answer may have made the key for the book. */
export function isMadeKey(book: Book, key: string): boolean {
  const base = createBase(book);
  return key.startsWith(base) && /^[a-z]*$/.test(key.slice(base.length));
}

/** A key is its base, and the letters behind it after so many tries; null: no letters. */
type CitationKey = { readonly base: string; readonly tries: number | null };

const TABLES = 64;
const FIRST_CAPACITY = 4;
const GROWTH = 1.25;
const LOAD_MAX = 0.9;
const TRIES_MASK = 0x3fffff;
/** In an entry: the key waits for the book that brought it. */
const RESERVED_BIT = 0x800000;
/** In an entry: the key waits for the book that it is assigned to. */
const ASSIGNED_BIT = 0x400000;

function createTables(): readonly KeyTable[] {
  return Array.from({ length: TABLES }, () => new KeyTable());
}

function getTable(tables: readonly KeyTable[], { high }: KeyHash): KeyTable {
  const table = tables[high % TABLES];
  assert(table !== undefined);
  return table;
}

/** 64 bits: all of `low` and 8 of `high` are compared, others say where it lies. */
type KeyHash = { readonly low: number; readonly high: number };

/** Two FNV-1a hashes of the key without its case: BibTeX compares keys so. */
function hashKey(key: string): KeyHash {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (const byte of Buffer.from(key.toLowerCase())) {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x85ebca6b);
    high ^= high >>> 13;
  }
  // Zero is an empty place of the table.
  return { low: (low >>> 0) || 1, high: high >>> 0 };
}

/**
 * Hashes with open addressing; of each the low half, then 8 bits of the high one, whether it is
 * reserved, whether it is assigned, and the tries.
 */
class KeyTable {
  #entries = new Uint32Array(FIRST_CAPACITY * 2);
  #size = 0;

  get bytes(): number {
    return this.#entries.byteLength;
  }

  /** Whether the hash is new. */
  add({ low, high }: KeyHash): boolean {
    const tag = high >>> 24;
    const place = findPlace(this.#entries, low, tag);
    if (this.#entries[place] !== 0) return false;
    this.#entries[place] = low;
    this.#entries[place + 1] = tag << 24;
    this.#size += 1;
    if (this.#size * 2 > this.#entries.length * LOAD_MAX) this.#grow();
    return true;
  }

  /** Adds the hash as reserved, unless it is there. */
  reserve(hash: KeyHash): void {
    if (this.add(hash)) this.mark(hash, RESERVED_BIT);
  }

  /** Marks a hash that was added with the bit. */
  mark({ low, high }: KeyHash, bit: number): void {
    const place = findPlace(this.#entries, low, high >>> 24) + 1;
    this.#entries[place] = (this.#entries[place] ?? 0) | bit;
  }

  /** Whether the hash was marked with the bit; it is no longer, but stays. */
  takeMark({ low, high }: KeyHash, bit: number): boolean {
    const place = findPlace(this.#entries, low, high >>> 24);
    const entry = this.#entries[place + 1] ?? 0;
    if (this.#entries[place] === 0 || (entry & bit) === 0) return false;
    this.#entries[place + 1] = entry & ~bit;
    return true;
  }

  /** How often it has been called for a hash that was added. */
  countTry({ low, high }: KeyHash): number {
    const place = findPlace(this.#entries, low, high >>> 24) + 1;
    const entry = this.#entries[place] ?? 0;
    this.#entries[place] = entry + 1;
    return entry & TRIES_MASK;
  }

  /** Adds the hash with a number of tries. */
  setTries(hash: KeyHash, tries: number): void {
    this.add(hash);
    const place = findPlace(this.#entries, hash.low, hash.high >>> 24) + 1;
    this.#entries[place] = (this.#entries[place] ?? 0) & ~TRIES_MASK | tries;
  }

  /** The tries of a hash that was added, else null. */
  findTries({ low, high }: KeyHash): number | null {
    const place = findPlace(this.#entries, low, high >>> 24);
    return this.#entries[place] === 0 ? null : (this.#entries[place + 1] ?? 0) & TRIES_MASK;
  }

  #grow(): void {
    const before = this.#entries;
    this.#entries = new Uint32Array(Math.ceil(before.length / 2 * GROWTH + 1) * 2);
    for (let place = 0; place < before.length; place += 2) {
      const low = before[place] ?? 0;
      const entry = before[place + 1] ?? 0;
      if (low === 0) continue;
      const newPlace = findPlace(this.#entries, low, entry >>> 24);
      this.#entries[newPlace] = low;
      this.#entries[newPlace + 1] = entry;
    }
  }
}

/** The place of a hash, or the empty place for it. */
function findPlace(entries: Uint32Array, low: number, tag: number): number {
  const capacity = entries.length / 2;
  let index = Math.floor(low / 2 ** 32 * capacity);
  while (entries[index * 2] !== 0
    && (entries[index * 2] !== low || (entries[index * 2 + 1] ?? 0) >>> 24 !== tag)) {
    index = (index + 1) % capacity;
  }
  return index * 2;
}

/** What BibTeX takes for a key within braces, and no reader for something else, as for a field. */
const KEY = /^[^\s,{}%"\\~=]{1,250}$/;
/** Letters that are no base letter with an accent. */
const ASCII_LETTERS: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'], ['ẞ', 'SS'], ['æ', 'ae'], ['Æ', 'Ae'], ['œ', 'oe'], ['Œ', 'Oe'], ['ø', 'o'],
  ['Ø', 'O'], ['ł', 'l'], ['Ł', 'L'], ['đ', 'd'], ['Đ', 'D'], ['ð', 'd'], ['Ð', 'D'],
  ['þ', 'th'], ['Þ', 'Th'], ['ı', 'i'], ['ŋ', 'n'],
]);

function createBase(book: Book): string {
  const [author] = book.authors;
  const family = author === undefined ? '' : toAscii(splitAuthor(author).family);
  const words = book.title.slice(0, 1000).split(/\s+/).map(toAscii);
  const name = family || words.find((word) => word.length > 3) || words.find((word) => word !== '');
  return `${name ?? 'book'}${book.datePublished?.slice(0, 4) ?? ''}`;
}

function toAscii(text: string): string {
  return text.slice(0, 300).replace(/[^\0-\x7f]/g, (char) => ASCII_LETTERS.get(char) ?? char)
    .normalize('NFKD').replace(/[^A-Za-z0-9]/g, '').slice(0, WORD_LENGTH_MAX);
}

/** a, b, … z, aa, ab and so on. */
function toLetters(count: number): string {
  let letters = '';
  for (let rest = count; rest >= 0; rest = Math.floor(rest / 26) - 1) {
    letters = String.fromCharCode(97 + rest % 26) + letters;
  }
  return letters;
}
