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
/** In the number of a key: how often letters were tried behind it. */
const TRIES_MASK = 0x3fffff;
/** The key waits for the book that brought it. */
const RESERVED_BIT = 0x800000;
/** The key waits for the book that it is assigned to. */
const ASSIGNED_BIT = 0x400000;

export class CitationKeys {
  readonly #numbers = new NumberTable();
  /** Which letters follow the key of a book, by its id; null: no keys were assigned. */
  #triesById: NumberTable | null = null;

  /** Keeps the key that a book brought along for the first that brings it. */
  reserve(importedKey: string): void {
    const isNew = KEY.test(importedKey) && this.#numbers.find(importedKey) === undefined;
    if (isNew) this.#numbers.set(importedKey, RESERVED_BIT);
  }

  /** Assigns the key of a book that is added later, in whatever order; to be called in id order. */
  assign(book: Book, importedKey: string | null): void {
    const { base, tries } = this.#create(book, importedKey, false);
    this.#triesById ??= new NumberTable();
    if (tries !== null) this.#triesById.set(book.id, tries);
    else this.#numbers.set(base, (this.#numbers.find(base) ?? 0) | ASSIGNED_BIT);
  }

  /** The key of the next book. `importedKey`: what its source called it; null: nothing. */
  add(book: Book, importedKey: string | null): string {
    const { base, tries } = this.#create(book, importedKey, this.#triesById !== null);
    return tries === null ? base : base + toLetters(tries);
  }

  #create(book: Book, importedKey: string | null, isAssigned: boolean): CitationKey {
    const isImported = importedKey !== null && KEY.test(importedKey);
    const base = isImported ? importedKey : createBase(book);
    const assignedTries = isAssigned ? this.#triesById?.find(book.id) : undefined;
    if (assignedTries !== undefined) return { base, tries: assignedTries };
    const number = this.#numbers.find(base);
    const isItsOwn = number === undefined || (isAssigned && (number & ASSIGNED_BIT) !== 0);
    const isReserved = isImported && number !== undefined && (number & RESERVED_BIT) !== 0;
    if (isItsOwn || isReserved) {
      const bit = isItsOwn ? ASSIGNED_BIT : RESERVED_BIT;
      this.#numbers.set(base, (number ?? 0) & ~bit);
      return { base, tries: null };
    }
    let tries = number & TRIES_MASK;
    while (this.#numbers.find(base + toLetters(tries)) !== undefined) tries += 1;
    this.#numbers.set(base, number - (number & TRIES_MASK) + tries + 1);
    this.#numbers.set(base + toLetters(tries), 0);
    return { base, tries };
  }

  /** About how much memory the keys take. */
  get bytes(): number {
    return this.#numbers.bytes + (this.#triesById?.bytes ?? 0);
  }
}

/** Whether an answer may have made the key for the book. */
export function isMadeKey(book: Book, key: string): boolean {
  const base = createBase(book);
  return key.startsWith(base) && /^[a-z]*$/.test(key.slice(base.length));
}

/** A key is its base, and the letters behind it after so many tries; null: no letters. */
type CitationKey = { readonly base: string; readonly tries: number | null };

const PARTS = 64;
const FIRST_CAPACITY = 4;
const GROWTH = 1.25;
const LOAD_MAX = 0.9;
const NUMBER_MASK = 0xffffff;

type TextHash = { readonly part: number; readonly low: number; readonly tag: number };

/**
 * Two FNV-1a hashes of a text without its case: BibTeX compares keys so. The 32 bits of `low` and 8
 * of the other, `tag`, are compared.
 */
function hashText(text: string): TextHash {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (const byte of Buffer.from(text.toLowerCase())) {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x85ebca6b);
    high ^= high >>> 13;
  }
  // Zero is an empty place of the table.
  return { low: (low >>> 0) || 1, tag: high >>> 24, part: (high >>> 0) % PARTS };
}

/**
 * Numbers of 24 bits by texts, in parts that grow one by one: hashes with open addressing, of each
 * `low`, then `tag` and the number.
 */
class NumberTable {
  readonly #parts = Array.from({ length: PARTS }, () => new Uint32Array(FIRST_CAPACITY * 2));
  readonly #sizes = new Uint32Array(PARTS);

  get bytes(): number {
    return this.#parts.reduce((bytes, entries) => bytes + entries.byteLength, 0);
  }

  find(text: string): number | undefined {
    const hash = hashText(text);
    const entries = this.#getEntries(hash);
    const place = findPlace(entries, hash.low, hash.tag);
    return entries[place] === 0 ? undefined : (entries[place + 1] ?? 0) & NUMBER_MASK;
  }

  set(text: string, number: number): void {
    const hash = hashText(text);
    const entries = this.#getEntries(hash);
    const place = findPlace(entries, hash.low, hash.tag);
    const isNew = entries[place] === 0;
    entries[place] = hash.low;
    entries[place + 1] = hash.tag << 24 | number;
    if (!isNew) return;
    const size = (this.#sizes[hash.part] ?? 0) + 1;
    this.#sizes[hash.part] = size;
    if (size * 2 > entries.length * LOAD_MAX) this.#parts[hash.part] = growEntries(entries);
  }

  #getEntries({ part }: TextHash): Uint32Array {
    const entries = this.#parts[part];
    assert(entries !== undefined);
    return entries;
  }
}

function growEntries(entries: Uint32Array): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(Math.ceil(entries.length / 2 * GROWTH + 1) * 2);
  for (let place = 0; place < entries.length; place += 2) {
    const low = entries[place] ?? 0;
    const entry = entries[place + 1] ?? 0;
    if (low === 0) continue;
    const grownPlace = findPlace(grown, low, entry >>> 24);
    grown[grownPlace] = low;
    grown[grownPlace + 1] = entry;
  }
  return grown;
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

/** A text that BibTeX takes for a key within braces, and that no reader takes for a field. */
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
