import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeByteString } from '../../../src/base/text/fold.ts';
import { createAnyKey, createAuthorKey } from '../../../src/books/query/author-key.ts';
import type { SortableAuthor } from '../../../src/books/query/author-key.ts';
import { createTitleSortKey } from '../../../src/books/query/sort-keys.ts';
import { pick } from '../../support/random-books.ts';
import { below, createRandom } from '../../support/random.ts';

const CASES: readonly (readonly [author: SortableAuthor, family: string, rest: string])[] = [
  [{ name: 'Jane Austen' }, 'austen', 'jane'],
  [{ name: 'Homer' }, 'homer', ''],
  [{ name: '  Jorge   Luis Borges ' }, 'borges', 'jorge luis'],
  [{ name: 'Stanisław Łem' }, 'lem', 'stanislaw'],
  [{ name: 'Νίκος Καζαντζάκης' }, 'καζαντζακησ', 'νικοσ'],
  // The family name that is given counts, and the rest of the name where no given name is.
  [{ name: 'Ursula K. Le Guin', familyName: 'Le Guin' }, 'le guin', 'ursula k.'],
  [{ name: 'Ursula K. Le Guin', familyName: 'Le Guin', givenName: 'Ursula' }, 'le guin', 'ursula'],
  [{ name: 'Ursula K. Le Guin', givenName: 'Ursula' }, 'guin', 'ursula'],
  [{ name: 'Le Guin, Ursula', familyName: 'Le Guin' }, 'le guin', 'ursula'],
  [{ name: 'LE GUIN Ursula', familyName: 'Le Guin' }, 'le guin', 'ursula'],
  [{ name: 'Mark Twain', familyName: 'Clemens' }, 'clemens', 'mark twain'],
  [{ name: 'Ana Anaya', familyName: 'Ana' }, 'ana', 'anaya'],
  [{ name: 'Jane Austen', familyName: '', givenName: ' ' }, 'austen', 'jane'],
  // The family name precedes a comma.
  [{ name: 'García Márquez, Gabriel' }, 'garcia marquez', 'gabriel'],
  [{ name: 'Dumas, Alexandre, fils' }, 'dumas', 'alexandre, fils'],
  [{ name: 'Austen ,Jane' }, 'austen', 'jane'],
  [{ name: 'Austen,' }, 'austen', ''],
  [{ name: ', Jane' }, 'jane', ''],
  // Additions are no family names, behind a comma either, but where there is nothing else.
  [{ name: 'Kurt Vonnegut Jr.' }, 'vonnegut', 'kurt jr.'],
  [{ name: 'Kurt Vonnegut Jr' }, 'vonnegut', 'kurt jr'],
  [{ name: 'Martin Luther King, Jr.' }, 'king', 'martin luther jr.'],
  [{ name: 'King, Martin Luther, Jr.' }, 'king', 'martin luther, jr.'],
  [{ name: 'Oliver Wendell Holmes Sr.' }, 'holmes', 'oliver wendell sr.'],
  [{ name: 'Pliny Jr. III' }, 'pliny', 'jr. iii'],
  [{ name: 'Johannes Paul II.' }, 'paul', 'johannes ii.'],
  [{ name: 'Henry VIII' }, 'henry', 'viii'],
  [{ name: 'Henry Ⅷ' }, 'henry', 'viii'],
  [{ name: 'Louis 14' }, 'louis', '14'],
  [{ name: 'Civic Mix' }, 'mix', 'civic'],
  [{ name: 'Jinping Xi' }, 'xi', 'jinping'],
  [{ name: 'XIV' }, 'xiv', ''],
  // East Asian names are whole: the family name stands first.
  [{ name: '村上 春樹' }, '村上 春樹', ''],
  [{ name: 'よしもと ばなな' }, 'よしもと ばなな', ''],
  [{ name: 'ｶﾌｶ' }, 'カフカ', ''],
  [{ name: '한 강' }, '한 강', ''],
  [{ name: '톨킨, J. R. R.' }, '톨킨', 'j. r. r.'],
  [{ name: '村上春樹', familyName: '村上' }, '村上', '春樹'],
  [{ name: '\u0000' }, '', ''],
];

for (const [author, family, rest] of CASES) {
  test(`${JSON.stringify(author)} is sorted as “${family}”, then “${rest}”`, () => {
    assert.deepEqual(decodeByteString(createAuthorKey(author)).split('\0'), [family, rest]);
  });
}

test('a family name sorts before the longer ones that it begins, whoever bears it', () => {
  const names = ['Zoe Lee', 'Amy Leeds', 'Ann Lee', 'Lee', 'Bea Le'];
  const sorted = names.toSorted((left, right) =>
    createAuthorKey({ name: left }) < createAuthorKey({ name: right }) ? -1 : 1);
  assert.deepEqual(sorted, ['Bea Le', 'Lee', 'Ann Lee', 'Zoe Lee', 'Amy Leeds']);
});

test('the short way to a key gives what the long way gives', () => {
  const random = createRandom(1);
  const words = ['Ann', "O'Neill", 'St.-Just', 'Jr.', 'jr', 'Sr', 'XIV', 'Xi', 'x', 'II.', 'É', ',',
    'King,', '14', 'LEE', 'Du', 'van', '', ' ', '\t', '村上', '-', '.', 'ﬁn'];
  const phrase = (): string =>
    Array.from({ length: 1 + below(random, 4) }, () => pick(random, words)).join(' ');
  let plainCount = 0;
  for (let round = 0; round < 5000; round += 1) {
    const author = {
      name: phrase(),
      ...random() < 0.4 ? { givenName: phrase() } : {},
      ...random() < 0.4 ? { familyName: phrase() } : {},
    };
    assert.equal(createAuthorKey(author), createAnyKey(author), JSON.stringify(author));
    plainCount += Number(/^[A-Za-z ]+$/.test(author.name));
  }
  assert.ok(plainCount > 500, `${plainCount} plain names`);
});

const ORDERS: readonly (readonly string[])[] = [
  ['Vol. 2', 'Vol. 10', 'Vol. 100', 'Vol. C'],
  ['1', '2 b', '2a', '10', '2001: A Space Odyssey', '20000 Leagues', 'Zero'],
  ['Part 9', 'Part 1234567890', 'Part 12345678901234567890', 'Part 98765432109876543210', 'Parts'],
  ['"Art"', 'Book', '(Cooking) for two', '“Dune”', '«Élan»', '» Frei «', "'Gone", '「東京」'],
  ['the "end"', 'The End', '"The endless', '[The] x'],
];
for (const titles of ORDERS) {
  test(`titles sort as ${titles.join(' < ')}`, () => {
    const keys = titles.map(createTitleSortKey);
    assert.deepEqual(keys.toSorted(), keys);
    assert.equal(new Set(keys).size, keys.length);
  });
}

const SAME: readonly (readonly string[])[] = [
  ['Vol. 7', 'vol. 007'], ['The End', '"The End', '(the end'], ['0', '000'], ['５０', '50'],
];
for (const titles of SAME) {
  test(`${titles.join(' and ')} sort alike`, () => {
    assert.equal(new Set(titles.map(createTitleSortKey)).size, 1);
  });
}

test('numbers of any length sort by their value', () => {
  const random = createRandom(1);
  const numbers = Array.from({ length: 500 }, () =>
    BigInt(Array.from({ length: 1 + below(random, 60) }, () => below(random, 10)).join('')));
  const byKey = numbers.toSorted((left, right) =>
    createTitleSortKey(`a ${left} b`) < createTitleSortKey(`a ${right} b`) ? -1 : 1);
  const byValue = numbers.toSorted((left, right) => Number(left > right) - Number(left < right));
  assert.deepEqual(byKey, byValue);
});
