/** Typed arrays that grow. */

/** `array` if it has room for `length` elements, else a copy with at least twice the room. */
export function growInt32(
  array: Int32Array<ArrayBuffer>, length: number,
): Int32Array<ArrayBuffer> {
  if (length <= array.length) return array;
  const larger = new Int32Array(Math.max(length, array.length * 2));
  larger.set(array);
  return larger;
}
