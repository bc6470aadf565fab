import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Author, Book } from '../../../../src/books/book.ts';
import { CitationKeys } from '../../../../src/books/transfer/sources/bibtex-keys.ts';

function createBook(authors: readonly Author[], title: string, datePublished?: string): Book {
  const book = { id: '', createdAt: '', updatedAt: '', title, authors };
  return datePublished === undefined ? book : { ...book, datePublished };
}

const leGuin = createBook([{ name: 'Ursula K. Le Guin' }], 'The Dispossessed', '1974-05');

test('a key is the family and the year, in ASCII, else a word of the title', () => {
  const cases: readonly (readonly [book: Book, key: string])[] = [
    [leGuin, 'LeGuin1974'],
    [createBook([{ name: 'Vincent van Gogh' }], 'x'), 'vanGogh'],
    [createBook([{ name: 'x', familyName: 'Brontë-Łoś Größe' }], 'x', '1847'),
      'BronteLosGrosse1847'],
    [createBook([{ name: '村上春樹' }], 'A Wild Chase', '1982'), 'Wild1982'],
    [createBook([], '本'), 'book'],
    [createBook([{ name: 'x'.repeat(200) }], 'x'), 'x'.repeat(40)],
  ];
  for (const [book, key] of cases) assert.equal(new CitationKeys().add(book, null), key);
});

test('keys of one answer differ, by letters in its order', () => {
  const keys = new CitationKeys();
  const answer = Array.from({ length: 704 }, () => keys.add(leGuin, null));
  assert.deepEqual(answer.slice(0, 3), ['LeGuin1974', 'LeGuin1974a', 'LeGuin1974b']);
  assert.deepEqual(answer.slice(26, 29), ['LeGuin1974z', 'LeGuin1974aa', 'LeGuin1974ab']);
  assert.equal(answer.at(-1), 'LeGuin1974aaa');
});

test('imported keys stay, and differ too, in more than case', () => {
  const keys = new CitationKeys();
  const imported = ['DBLP:x/Y', 'LeGuin1974a', 'dblp:X/y', 'no key', 'a{', 'Müller', 'a=b'];
  assert.deepEqual(imported.map((key) => keys.add(leGuin, key)),
    ['DBLP:x/Y', 'LeGuin1974a', 'dblp:X/ya', 'LeGuin1974', 'LeGuin1974b', 'Müller',
      'LeGuin1974c']);
});

test('a reserved key is for the book that brings it, wherever it stands in the answer', () => {
  const keys = new CitationKeys();
  for (const key of ['LeGuin1974', 'LeGuin1974b', 'leguin1974', 'no key']) keys.reserve(key);
  const imported = [null, null, 'LeGuin1974b', 'LeGuin1974', 'leguin1974', null];
  assert.deepEqual(imported.map((key) => keys.add(leGuin, key)),
    ['LeGuin1974a', 'LeGuin1974c', 'LeGuin1974b', 'LeGuin1974', 'leguin1974d', 'LeGuin1974e']);
});

test('keys that were assigned in id order are those of the books in any order', () => {
  const keys = new CitationKeys();
  const books = Array.from({ length: 60 }, (_, number) => ({ ...leGuin, id: `id-${number}` }));
  const importedKeys = new Map([[books[7], 'LeGuin1974c'], [books[8], 'LeGuin1974c']]);
  const importedOf = (book: Book): string | null => importedKeys.get(book) ?? null;
  for (const key of importedKeys.values()) keys.reserve(key);
  for (const book of books) keys.assign(book, importedOf(book));
  const answer = new Map(
    books.toReversed().map((book) => [book, keys.add(book, importedOf(book))]));
  const inIdOrder = books.map((book) => answer.get(book));
  assert.deepEqual(inIdOrder.slice(0, 10), ['LeGuin1974', 'LeGuin1974a', 'LeGuin1974b',
    'LeGuin1974d', 'LeGuin1974e', 'LeGuin1974f', 'LeGuin1974g', 'LeGuin1974c', 'LeGuin1974ca',
    'LeGuin1974h']);
  assert.equal(new Set(inIdOrder).size, 60);
  // One that was written since then gets a key of its own.
  const key = keys.add({ ...leGuin, id: 'new' }, null);
  assert.ok(!inIdOrder.includes(key), key);
});

test('a book takes at most 16 bytes of memory, whether keys are alike or not', () => {
  for (const count of [20_000, 23_000, 27_000]) {
    const keys = new CitationKeys();
    const seen = new Set<string>();
    for (let number = 0; number < count; number += 1) {
      seen.add(keys.add(leGuin, number % 2 === 0 ? null : `k${number}`).toLowerCase());
    }
    assert.equal(seen.size, count);
    assert.ok(keys.bytes <= 16 * count, `${keys.bytes / count} bytes a book`);
  }
});
