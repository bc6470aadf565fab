/** What a search was corrected to, from the header that tells of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  correctText, joinCorrections, parseCorrections,
} from '../../../../src/console/screens/books/search-corrections.ts';

test('the pairs of the header are decoded, and without one there are none', () => {
  assert.deepEqual(parseCorrections('hary=harry, poter=potter'),
    [['hary', 'harry'], ['poter', 'potter']]);
  assert.deepEqual(parseCorrections('%D1%82%D0%BE%D0%BB%D1%81=%D1%82%D0%BE%D0%BB'),
    [['толс', 'тол']]);
  assert.deepEqual(parseCorrections(null), []);
});

test('the words of an author are told by themselves', () => {
  assert.deepEqual(joinCorrections([['tolstoi', 'tolstoy'], ['leoo', 'leo']]),
    ['tolstoi leoo', 'tolstoy leo']);
});

test('words are replaced whatever their case and accents, and the rest stays as it was typed',
  () => {
    for (const [text, corrections, corrected] of [
      ['hary', [['hary', 'harry']], 'harry'],
      ['Hary, POTER & co', [['hary', 'harry'], ['poter', 'potter']], 'harry, potter & co'],
      ['Gárcia de sharyn', [['garcia', 'garcía']], 'garcía de sharyn'],
      ['hary sharyn haryx', [['hary', 'harry']], 'harry sharyn haryx'],
      ['nothing', [], 'nothing'],
    ] as const) assert.equal(correctText(text, corrections), corrected);
  });
