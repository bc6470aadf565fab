/** Typed arrays that grow. */

/** `larger` with the elements of `array` at its start. */
export function copyInto<T extends { set(array: T): void }>(larger: T, array: T): T {
  larger.set(array);
  return larger;
}

/** `array` if it has room for `length` elements, else a copy with at least twice the room. */
export function growInt32(
  array: Int32Array<ArrayBuffer>, length: number,
): Int32Array<ArrayBuffer> {
  return length <= array.length ? array
    : copyInto(new Int32Array(Math.max(length, array.length * 2)), array);
}
