/**
 * The places of one term, packed. A place is a slot, counted from the segment's first.
 *
 * Format: a list or a bitmap, whichever is shorter. A list has a varint for each place (7 bits a
 * byte, lowest first; the high bit says that more follow): its distance from the place before, for
 * the first from -1, so that it is never zero. A bitmap is a zero byte and then one bit a place,
 * lowest first, from place 0 on.
 *
 * `addPlaces` and `eachPlace` both decode a list, in a loop of their own: a call for each place
 * would slow down searches.
 */

/**
 * Sets the bit of every place from `start` to `end` of `postings`, whether they are a list or a
 * bitmap. `bits` has 32 places an element, and must be long enough for all of the segment.
 */
export function addPlaces(
  bits: Uint32Array, postings: Uint8Array, start: number, end: number,
): void {
  if (postings[start] === 0) {
    addBitmap(bits, postings, start + 1, end);
    return;
  }
  let place = -1;
  for (let index = start; index < end;) {
    let byte = postings[index] ?? 0;
    index += 1;
    let gap = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = postings[index] ?? 0;
      index += 1;
      gap |= (byte & 0x7f) << shift;
    }
    place += gap;
    const element = place >>> 5;
    bits[element] = (bits[element] ?? 0) | (1 << (place & 31));
  }
}

/** Visits the places of a list, not of a bitmap, one by one. */
export function eachPlace(
  postings: Uint8Array, start: number, end: number, visit: (place: number) => void,
): void {
  let place = -1;
  for (let index = start; index < end;) {
    let byte = postings[index] ?? 0;
    index += 1;
    let gap = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = postings[index] ?? 0;
      index += 1;
      gap |= (byte & 0x7f) << shift;
    }
    place += gap;
    visit(place);
  }
}

export function isBitmap(postings: Uint8Array, start: number): boolean {
  return postings[start] === 0;
}

/**
 * Packs the rising places from `start` to `stop` into `into` at `offset`, five bytes each at most.
 * Returns the offset after them.
 */
export function writeList(
  into: Uint8Array, offset: number, places: Uint32Array, start: number, stop: number,
): number {
  let end = offset;
  let before = -1;
  for (let index = start; index < stop; index += 1) {
    const place = places[index] ?? 0;
    let gap = place - before;
    before = place;
    for (; gap >= 0x80; gap >>>= 7) {
      into[end] = (gap & 0x7f) | 0x80;
      end += 1;
    }
    into[end] = gap;
    end += 1;
  }
  return end;
}

/** Packs the places that are set in `bits`. Returns the offset after them. */
export function writeBitmap(into: Uint8Array, offset: number, bits: Uint32Array): number {
  let length = bits.length;
  while (length > 0 && bits[length - 1] === 0) length -= 1;
  into[offset] = 0;
  let end = offset + 1;
  for (let index = 0; index < length; index += 1) {
    const element = bits[index] ?? 0;
    into[end] = element;
    into[end + 1] = element >>> 8;
    into[end + 2] = element >>> 16;
    into[end + 3] = element >>> 24;
    end += 4;
  }
  return end;
}

function addBitmap(bits: Uint32Array, postings: Uint8Array, start: number, end: number): void {
  let element = 0;
  for (let index = start; index < end; index += 4) {
    bits[element] = (bits[element] ?? 0)
      | (postings[index] ?? 0) | ((postings[index + 1] ?? 0) << 8)
      | ((postings[index + 2] ?? 0) << 16) | ((postings[index + 3] ?? 0) << 24);
    element += 1;
  }
}
