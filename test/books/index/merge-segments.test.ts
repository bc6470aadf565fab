import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BitSet } from '../../../src/base/structures/bit-set.ts';
import { mergeSegments } from '../../../src/books/index/merge-segments.ts';
import { eachPlace } from '../../../src/books/index/packed-postings.ts';
import { SegmentWriter, type Segment } from '../../../src/books/index/segment.ts';

const TERM = Buffer.from('river');
const PLACES = 64;

/** A segment from slot 0 on, in which the books of these slots have one word. */
function createSegment(slots: readonly number[]): Segment {
  const writer = new SegmentWriter({
    termCount: 1, termBytes: TERM.length, postingBytes: slots.length * 2, firstSlot: 0,
    placeBound: PLACES,
  });
  const live = new BitSet(PLACES);
  for (const slot of slots) live.add(slot);
  writer.setTerm(TERM, 0, TERM.length);
  writer.addList(Uint32Array.from(slots), 0, slots.length);
  return writer.finish(live);
}

test('the places of a word rise, though slots were reused between the segments', () => {
  const merging = mergeSegments([createSegment([5, 40]), createSegment([2, 9])]);
  let step = merging.next();
  while (step.done !== true) step = merging.next();
  const merged = step.value;
  assert.ok(merged !== null);
  const places: number[] = [];
  eachPlace(merged.postings, merged.postingStart(0), merged.postingEnd(0), (place) => {
    places.push(place);
  });
  assert.deepEqual(places, [2, 5, 9, 40]);
});
