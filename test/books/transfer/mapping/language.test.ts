/** Languages are read however a program names them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLanguage } from '../../../../src/books/transfer/mapping/language.ts';

test('tags, codes and names give the BCP 47 tag', () => {
  const cases: Readonly<Record<string, string>> = {
    'en': 'en', 'eng': 'en', 'ENG': 'en', 'en_US': 'en-US', 'pt-br': 'pt-BR', 'ger': 'de',
    'deu': 'de', 'grc': 'grc', 'English': 'en', ' german ': 'de', 'Deutsch': 'de',
    'français': 'fr', 'ngerman': 'de', 'brazilian': 'pt-BR', '日本語': 'ja', 'Hebrew': 'he',
    'deutsch': 'de', 'englisch': 'en', 'Spanisch': 'es', 'polnisch': 'pl', 'Französisch': 'fr',
    'Francais': 'fr', 'ALLEMAND': 'de', 'inglés': 'en', 'Türkisch': 'tr', 'castellano': 'es',
    'Greek, Ancient': 'grc', 'Old English': 'ang', 'iw': 'he', 'Norwegian': 'no',
  };
  for (const [text, tag] of Object.entries(cases)) {
    assert.deepEqual(readLanguage(text), { value: tag, isWhole: true }, text);
  }
});

test('of several languages the first is read, and that this is not all', () => {
  for (const text of [
    'eng; fre', 'Englisch und Deutsch', 'English, French and Latin', 'en/fr', 'English and French',
  ]) {
    assert.deepEqual(readLanguage(text), { value: 'en', isWhole: false }, text);
  }
});

test('a word that names no language is none, though BCP 47 would let it be one', () => {
  for (const text of ['', 'Klingonese', 'und', 'x', '2', 'constructor', 'a'.repeat(10_000)]) {
    assert.equal(readLanguage(text), undefined, text.slice(0, 20));
  }
});
