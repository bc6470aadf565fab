/** A stable merge sort that can be interrupted: no step holds the event loop. Pure. */
import type { Steps } from '../turns.ts';

/** Negative, zero or positive, as the item at `left` sorts before, like or after `right`'s. */
type CompareIndexes = (left: number, right: number) => number;

const RUN_LENGTH = 16;
const STEPS_PER_YIELD = 256;

/** Sorts the indexes below `count`; indexes that compare alike keep their order. */
export function* sortIndexes(count: number, compare: CompareIndexes): Steps<Uint32Array> {
  let from = new Uint32Array(count);
  for (let start = 0; start < count; start += RUN_LENGTH) {
    sortRun(from, start, Math.min(start + RUN_LENGTH, count), compare);
    if (start % (RUN_LENGTH * RUN_LENGTH) === 0) yield;
  }
  let into = new Uint32Array(count);
  for (let width = RUN_LENGTH; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(start + width, count);
      yield* merge(from, into, start, middle, Math.min(middle + width, count), compare);
    }
    [from, into] = [into, from];
  }
  return from;
}

function sortRun(order: Uint32Array, start: number, end: number, compare: CompareIndexes): void {
  for (let index = start; index < end; index += 1) {
    let position = index;
    for (; position > start; position -= 1) {
      const before = order[position - 1] ?? 0;
      if (compare(before, index) <= 0) break;
      order[position] = before;
    }
    order[position] = index;
  }
}

function* merge(
  from: Uint32Array, into: Uint32Array, start: number, middle: number, end: number,
  compare: CompareIndexes,
): Steps<void> {
  let left = start;
  let right = middle;
  for (let position = start; position < end; position += 1) {
    const leftItem = from[left] ?? 0;
    const rightItem = from[right] ?? 0;
    const isLeft = left < middle && (right >= end || compare(leftItem, rightItem) <= 0);
    into[position] = isLeft ? leftItem : rightItem;
    if (isLeft) left += 1;
    else right += 1;
    if (position % STEPS_PER_YIELD === 0) yield;
  }
}
