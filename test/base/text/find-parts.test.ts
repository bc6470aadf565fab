import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findParts } from '../../../src/base/text/find-parts.ts';
import { createRandom } from '../../support/random.ts';

/** The parts found, and in how many steps. */
function find(text: string, parts: readonly string[]): { found: string[]; steps: number } {
  const run = findParts(text, new Set(parts));
  let steps = 0;
  let step = run.next();
  for (; step.done !== true; step = run.next()) steps += 1;
  return { found: [...step.value].sort(), steps };
}

test('finds the parts that String.includes finds', () => {
  const random = createRandom(11);
  const letters = (count: number, kinds: number): string => Array.from({ length: count }, () =>
    String.fromCharCode(0xd7fe + Math.floor(random() * kinds))).join('');
  let foundCount = 0;
  for (let round = 0; round < 200; round += 1) {
    const kinds = 2 + Math.floor(random() * 3);
    const text = letters(Math.floor(random() * 400), kinds);
    const parts = Array.from({ length: 1 + Math.floor(random() * 40) }, () =>
      letters(Math.floor(random() * 9), kinds));
    const expected = [...new Set(parts)].filter((part) => text.includes(part)).sort();
    assert.deepEqual(find(text, parts).found, expected, JSON.stringify([text, parts]));
    foundCount += expected.length;
  }
  assert(foundCount > 1000);
});

test('parts within parts are found, and the empty one in any text', () => {
  const parts = ['shers', 'her', 'he', 'e', 'hers', 'x', ''];
  assert.deepEqual(find('ushers', parts).found, ['', 'e', 'he', 'her', 'hers', 'shers']);
  assert.deepEqual(find('', parts).found, ['']);
});

test('more parts than one tree has room for are looked for in several passes', () => {
  const parts = Array.from({ length: 30 }, (_, index) => `${'a'.repeat(8000)}${index}`);
  const text = 'a'.repeat(8000) + 7;
  assert.deepEqual(find(text, parts).found, [parts[7]]);
});

test('a long text is looked at in steps', () => {
  const { found, steps } = find(`${'ab'.repeat(500_000)}c`, ['bc', 'cb']);
  assert.deepEqual(found, ['bc']);
  assert(steps > 60, `${steps} steps`);
});
