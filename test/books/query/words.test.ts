import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { tokenize, tokenizeWithSigns } from '../../../src/base/text/words.ts';
import {
  deriveTermPrefixes, eachTerm, matchesWords, parseClauses,
} from '../../../src/books/query/words.ts';
import { compile } from '../../support/compile.ts';
import { pick } from '../../support/random-books.ts';
import { createRandom } from '../../support/random.ts';
import { createTemporaryFolder } from '../../support/temporary-folder.ts';

const CASES: readonly (readonly [text: string, query: string, isMatch: boolean])[] = [
  ['The Left Hand of Darkness', 'left hand', true],
  ['The Left Hand of Darkness', 'HAND LEFT', true],
  ['The Left Hand of Darkness', 'dark', true],
  ['The Left Hand of Darkness', 'ness', false],
  ['The Left Hand of Darkness', 'left foot', false],
  ['Les Misérables', 'miserables', true],
  ['Les Miserables', 'Misérables', true],
  ['Łódź', 'lodz', true],
  ['Weiße Nächte', 'weisse nachte', true],
  ['Weisse Naechte', 'weiße', true],
  ['Война и мир', 'ВОЙНА', true],
  ['Ελλάς', 'ελλασ', true],
  ['O\'Brien', 'o\'brien', true],
  ['Catch-22', 'catch 22', true],
  ['Catch-22', 'catch-22', true],
  // Signs that belong to a word.
  ['C++ & C#', 'c++', true],
  ['C++ & C#', 'c', true],
  ['C++ & C#', 'C#', true],
  ['C and D', 'c++', false],
  ['C and D', 'c#', false],
  ['C++11 im Einsatz', 'c++', true],
  ['C++11 im Einsatz', 'C++11', true],
  ['C#入門', 'c#', true],
  ['入門C++', 'c++', true],
  ['入門C#', '入門', true],
  ['a+b', 'a b', true],
  ['Pro .NET', '.net', true],
  ['Pro .NET', 'net', true],
  ['The net', '.net', false],
  ['ASP.NET', '.net', false],
  // Initials.
  ['J.R.R. Tolkien', 'jrr tolkien', true],
  ['Tolkien, J. R. R.', 'jrr tolkien', true],
  ['JRR Tolkien', 'J.R.R. Tolkien', true],
  ['JRR Tolkien', 'J. R. R. Tolkien', true],
  ['J.R.R. Tolkien', 'J. R. R. Tolkien', true],
  ['J. R. R. Tolkien', 'R. Tolkien', true],
  ['J.-P. Sartre', 'JP Sartre', true],
  ['É. Zola', 'e. zola', true],
  ['А. С. Пушкин', 'АС Пушкин', true],
  ['JRR Tolkien', 'J. R. R. T', true],
  ['John Ronald Reuel', 'jrr', false],
  // No spaces between words: any character begins one.
  ['東京物語', '東京', true],
  ['東京物語', '物', true],
  ['東京物語', '京物語', true],
  ['東京物語', '東物', false],
  ['東京 物語', '京物', false],
  ['東京物語 2020', '東京 2020', true],
  ['iPhoneの本', 'iphone', true],
  ['iPhoneの本', 'の本', true],
  ['スター・ウォーズ', 'ウォー', true],
  ['ｽﾀｰ', 'スター', true],
  ['ประเทศไทย', 'ไทย', true],
  // A query of several such words: each counts, in any order, a single character with its word.
  ['東京の歴史', '東京歴史', true],
  ['東京の歴史', '歴史東京', true],
  ['東京の歴史', '京都歴史', false],
  ['日本の歴史', '日本史', false],
  ['物語の京', '京物語', false],
  ['中华人民共和国史', '共和国人民', true],
  ['机器学习基础教程', '机器教程', true],
  ['データベース入門', '入門データ', true],
  ['Python入門', '入門python', true],
  ['วิธีทำอาหารไทย', 'อาหารทำ', true],
  ['มนุษย์และกำเนิด', 'กำเนิดมนุษย์', true],
  ['สอนการพูดภาษาไทย', 'สอนภาษาไทย', true],
  ['สอนการพูดภาษาไทย', 'สอนภาษาลาว', false],
  ['ການເຮັດອາຫານລາວ', 'ອາຫານລາວ', true],
  ['한국의 역사', '한국', true],
  ['한국의 역사', '역사한국', false],
  // Korean writes particles and compounds as one word with what is looked for.
  ['한국의 역사', '국의', true],
  ['대한민국의 역사', '민국', true],
  ['대한민국', '대민국', false],
  ['해리포터와 마법사의 돌', '포터 마법', true],
  ['한국사 2020', '국사 2020', true],
  ['3월의 라이온', '월의', true],
  ['서울大學校', '大學', true],
  ['서울大學校', '울大', true],
  ['हिन्दी', 'हिन्द', true],
  ['हिन्दी', 'हिनद', false],
  // Numbers with hyphens: an ISBN, its beginning, or several numbers.
  ['9780441172719', '978-0-441-17271-9', true],
  ['9780441172719', '978 0 441 17271 9', true],
  ['9780441172719', '978‑0‑441‑17271‑9', true],
  ['9780441172719', '0-441-17271-7', true],
  ['9780441172719', '0441172717', true],
  ['9780441172719', '978-0-441', true],
  ['9780441172719', '978044117', true],
  ['9780441172719', '441', false],
  ['9780441172719', '978-0-442', false],
  ['The War 1914-1918', '1914-1918', true],
  ['The War 1914-1918', '1918-1914', true],
  ['The War 1914-1918', '1914-1919', false],
  ['0441172717 is a number', '0441172717', true],
  ['anything', '', true],
  ['anything', '!?', false],
  ['What!?', '!?', true],
  ['What !', '! ?', false],
  ['What ! And ?', '? !', true],
  ['anything', '\u200b', false],
  ['Harry & Sally', 'harry + sally', true],
  ['😀', '😀', true],
];

for (const [text, query, isMatch] of CASES) {
  test(`“${query}” ${isMatch ? 'finds' : 'does not find'} “${text}”`, () => {
    assert.equal(matchesWords(parseClauses(query, 'q'), tokenizeWithSigns(text)), isMatch);
  });
}

test('a run without spaces is split into words only up to 256 characters', () => {
  const countWords = (length: number): number => parseClauses('東京物語'.repeat(length / 4), 'q')
    .flatMap((clause) => clause.flat()).length;
  assert.ok(countWords(256) > 1);
  assert.equal(countWords(260), 1);
});

test('the terms of a text hold the starts that every word in it asks for', () => {
  const random = createRandom(3);
  const parts = [
    '東', '京', '物', '語', 'a', 'é', '1', '22', ' ', '-', 'ß', '😀', 'ไ', '한', 'の', '.', '+', '#',
  ];
  const phrase = (count: number): string =>
    Array.from({ length: count }, () => pick(random, parts)).join('');
  let matches = 0;
  for (let round = 0; round < 4000; round += 1) {
    const text = phrase(12);
    const query = phrase(2);
    const terms = new Set<string>();
    eachTerm(text, (term) => terms.add(term));
    for (const word of tokenize(query)) {
      const { prefixes, isExact } = deriveTermPrefixes(word);
      const isFound = prefixes.every((start) => [...terms].some((term) => term.startsWith(start)));
      const isMatch = matchesWords([[[word]]], tokenize(text));
      if (isMatch) matches += 1;
      assert.ok(!isMatch || isFound, `${query} in ${text}`);
      if (isExact) assert.equal(isFound, isMatch, `${query} in ${text}`);
    }
  }
  assert.ok(matches > 500, 'the cases are not all misses');
});

test('a query without such script never makes a segmenter', async (context) => {
  const made = context.mock.method(Intl, 'Segmenter', () => {
    throw new Error('made');
  });
  // A copy of its own, which has made none yet.
  const folder = createTemporaryFolder();
  const source = resolve(import.meta.dirname, '../../../src/books/query/words.ts');
  const words = await import(pathToFileURL(compile(source, folder)).href);
  for (const text of ['plain words', 'Les Misérables', 'Война и мир', '한국의 역사', '978-0-441']) {
    assert.equal(words.parseClauses(text, 'q').length > 0, true);
  }
  assert.equal(made.mock.callCount(), 0);
  assert.throws(() => words.parseClauses('東京', 'q'), /made/);
});
