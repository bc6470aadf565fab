import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BitSet } from '../../../src/base/structures/bit-set.ts';
import { below, createRandom } from '../../support/random.ts';
import type { Random } from '../../support/random.ts';
import { numbersOf } from '../../support/bit-numbers.ts';

type Operation = {
  readonly change: (left: BitSet, right: BitSet) => void;
  readonly expect: (isLeft: boolean, isRight: boolean) => boolean;
};

const OPERATIONS: Readonly<Record<string, Operation>> = {
  retain: {
    change: (left, right) => left.retain(right), expect: (isLeft, isRight) => isLeft && isRight,
  },
  subtract: {
    change: (left, right) => left.subtract(right), expect: (isLeft, isRight) => isLeft && !isRight,
  },
};

for (const [name, { change, expect }] of Object.entries(OPERATIONS)) {
  test(`${name} changes a set as its definition says, and not the other one`, () => {
    const random = createRandom(1);
    for (let round = 0; round < 50; round += 1) {
      const [left, right] = [randomSet(random), randomSet(random)];
      const [numbers, others] = [numbersOf(left), numbersOf(right)];
      const changed = left.copy();
      change(changed, right);
      const expected = [...new Set([...numbers, ...others])].sort((first, second) => first - second)
        .filter((number) => expect(numbers.includes(number), others.includes(number)));
      assert.deepEqual(numbersOf(changed), expected);
      assert.equal(changed.count(), expected.length);
      assert.deepEqual(numbersOf(left), numbers, 'a copy is a set of its own');
      assert.deepEqual(numbersOf(right), others);
    }
  });
}

test('a word puts its 32 numbers, also beyond those that there is room for', () => {
  const set = new BitSet(10);
  set.add(3);
  set.setWord(0, 0b101);
  set.setWord(1000, -1);
  assert.deepEqual([set.has(0), set.has(2), set.has(3), set.has(32_000), set.has(32_031)],
    [true, true, false, true, true]);
  assert.equal(set.count(), 34);
});

/** Of numbers below 40, 400 or 4000, so that two sets often differ in length. */
function randomSet(random: Random): BitSet {
  const bound = 4 * 10 ** (1 + below(random, 3));
  const set = new BitSet();
  for (let count = below(random, 100); count > 0; count -= 1) set.add(below(random, bound));
  return set;
}
