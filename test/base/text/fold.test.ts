import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeByteString, encodeByteString, fold, foldCase } from '../../../src/base/text/fold.ts';

const FOLDED: readonly (readonly [text: string, folded: string])[] = [
  ['The River', 'the river'],
  ['Éclair', 'eclair'],
  ['E\u0301clair', 'eclair'],
  ['Łódź', 'lodz'],
  ['Straße', 'strasse'],
  ['STRASSE', 'strasse'],
  ['GROẞ', 'gross'],
  ['İstanbul', 'istanbul'],
  ['ısı', 'isi'],
  ['Ærø', 'aero'],
  ['œuvre', 'oeuvre'],
  ['Đorđe', 'dorde'],
  ['Þór', 'thor'],
  ['ﬁn', 'fin'],
  ['Ⅳ', 'iv'],
  ['１９８４', '1984'],
  ['Πόλις', 'πολισ'],
  ['ΠΌΛΙΣ', 'πολισ'],
  ['Ёлка', 'елка'],
  ['שָׁלוֹם', 'שלום'],
  ['كِتَاب', 'كتاب'],
  ['co\u00adoperate', 'cooperate'],
  // What looks like an accent but makes another letter stays.
  ['がんばれ', 'がんばれ'],
  ['ｶﾞ', 'ガ'],
  ['हिन्दी', 'हिन्दी'],
  ['한국어', '한국어'],
  ['한국어'.normalize('NFD'), '한국어'],
  ['', ''],
];

for (const [text, folded] of FOLDED) {
  test(`${JSON.stringify(text)} folds to ${JSON.stringify(folded)}`, () => {
    assert.equal(fold(text), folded);
    assert.equal(fold(folded), folded, 'folding again changes nothing');
  });
}

test('foldCase takes case away, and accents not', () => {
  assert.equal(foldCase('Poésie'), foldCase('POE\u0301SIE'));
  assert.notEqual(foldCase('Poésie'), foldCase('Poesie'));
  assert.equal(foldCase('ὈΔΥΣΣΕΎΣ'), foldCase('ὀδυσσεύς'));
  assert.equal(foldCase('straße'), foldCase('STRASSE'));
  assert.equal(foldCase('\u212a'), foldCase('k'));
});

test('byte strings compare in code point order and come back whole', () => {
  const texts = ['', 'a', 'ab', 'é', '漢', 'ｱ', '\uffff', '😀', '\u{10ffff}'];
  const encoded = texts.map(encodeByteString);
  assert.deepEqual(encoded, encoded.toSorted());
  assert.deepEqual(encoded.map(decodeByteString), texts);
});
