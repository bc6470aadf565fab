import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../../../src/base/schema.ts';
import {
  readSeriesOfTitle, readTitleBeforeSeries,
} from '../../../../src/books/transfer/mapping/series-title.ts';

test('the brackets behind a title are its series where a # tells its place', () => {
  const cases: readonly (readonly [text: string, title: string, series: JsonValue])[] = [
    ['The Hunger Games (The Hunger Games, #1)', 'The Hunger Games',
      [{ name: 'The Hunger Games', position: 1 }]],
    ['Gideon the Ninth (The Locked Tomb #1)', 'Gideon the Ninth',
      [{ name: 'The Locked Tomb', position: 1 }]],
    ['Making Money (Discworld, #36; Moist von Lipwig #2)', 'Making Money',
      [{ name: 'Discworld', position: 36 }, { name: 'Moist von Lipwig', position: 2 }]],
    ['Heir to the Empire (Star Wars; The Thrawn Trilogy, #1)', 'Heir to the Empire',
      [{ name: 'Star Wars' }, { name: 'The Thrawn Trilogy', position: 1 }]],
    ['Sabriel  (Abhorsen,  #1)', 'Sabriel', [{ name: 'Abhorsen', position: 1 }]],
    ['Clariel (Abhorsen, #0.5)', 'Clariel', [{ name: 'Abhorsen', position: 0.5 }]],
    ['A (B, #.5)', 'A', [{ name: 'B', position: 0.5 }]],
    ['A (B, #007)', 'A', [{ name: 'B', position: 7 }]],
    ['The Mistborn Trilogy (Mistborn, #1-3)', 'The Mistborn Trilogy', [{ name: 'Mistborn' }]],
    ['A (B, #1, Part 2)', 'A', [{ name: 'B' }]], ['A (B, #1 & 2)', 'A', [{ name: 'B' }]],
    ['A (B (C), #1.5)', 'A', [{ name: 'B (C)', position: 1.5 }]],
    ['A (part two) (B, #3)', 'A (part two)', [{ name: 'B', position: 3 }]],
    ['A (C# and B, #2)', 'A', [{ name: 'C# and B', position: 2 }]],
    ['A (B, #1) (C, #2)', 'A', [{ name: 'B', position: 1 }, { name: 'C', position: 2 }]],
    ['A (B, #1; C)(D #2; E #3)', 'A',
      [{ name: 'B', position: 1 }, { name: 'C' }, { name: 'D', position: 2 },
        { name: 'E', position: 3 }]],
    ['A (part two) (B, #1) (C, #2)', 'A (part two)',
      [{ name: 'B', position: 1 }, { name: 'C', position: 2 }]],
    ['(A, #1) (B, #2)', '(A, #1)', [{ name: 'B', position: 2 }]],
    ['A (#1) (B, #2)', 'A (#1)', [{ name: 'B', position: 2 }]],
    ['A (((B)), #3)', 'A', [{ name: '((B))', position: 3 }]],
  ];
  for (const [text, title, series] of cases) {
    assert.deepEqual(readTitleBeforeSeries(text), { value: title, isWhole: false }, text);
    assert.deepEqual(readSeriesOfTitle(text), { value: series, isWhole: false }, text);
  }
});

test('a title without such brackets is the title', () => {
  for (const text of [
    'Emma', 'Who (I Am)', 'Code (Learn C#)', '(A, #1)', 'A (B, #1', 'A B, #1)', 'A (B, # 1)',
    'Set #1 (of three)', '', ')', '()', 'A ()', 'A (#1)', 'A (, #1)', 'A (B, #1) (C)',
    'A (B, #1) (#2)',
  ]) {
    assert.deepEqual(readTitleBeforeSeries(text), { value: text, isWhole: true }, text);
    assert.equal(readSeriesOfTitle(text), undefined, text);
  }
});
