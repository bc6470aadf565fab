/** The numbers of a bit set, for comparisons. */
import type { BitSet } from '../../src/base/structures/bit-set.ts';

export function numbersOf(set: BitSet): readonly number[] {
  const numbers: number[] = [];
  for (let number = set.next(0); number >= 0; number = set.next(number + 1)) numbers.push(number);
  return numbers;
}
