import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHeadWriter, isWholeText } from '../../../src/books/engine/text-heads.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { pick } from '../../support/random-books.ts';

test('heads and tails order texts as the texts themselves', () => {
  const random = createRandom(3);
  for (let round = 0; round < 60; round += 1) {
    const texts = Array.from({ length: 200 }, () => randomText(random));
    const splitters = [...new Set(texts.slice(0, below(random, 40)))].sort();
    const write = createHeadWriter(splitters);
    const heads = new Float64Array(texts.length);
    const tails = new Float64Array(texts.length);
    for (const [index, text] of texts.entries()) write(text, heads, tails, index);
    assert.ok([...heads, ...tails].every((number) => Number.isSafeInteger(number) && number >= 0));
    for (let pair = 0; pair < 2000; pair += 1) {
      const [left, right] = [below(random, texts.length), below(random, texts.length)];
      const order = Math.sign((heads[left] ?? 0) - (heads[right] ?? 0))
        || Math.sign((tails[left] ?? 0) - (tails[right] ?? 0));
      const expected = compare(texts[left] ?? '', texts[right] ?? '');
      const told = `${JSON.stringify([texts[left], texts[right]])} ${order}`;
      if (order !== 0 || isWholeText(tails[left] ?? 0)) assert.equal(order, expected, told);
    }
  }
});

/** Texts of few letters, the least and the greatest among them, that often begin alike. */
function randomText(random: Random): string {
  const start = pick(random, ['', 'the ', 'the history of ', 'aaaaaaaaaaaaaaaaaaaaaaaa']);
  return start + Array.from({ length: below(random, 9) }, () =>
    pick(random, ['a', 'b', '\0', '\xff'])).join('');
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
