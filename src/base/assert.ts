/**
 * For the programmer's errors: what cannot be, unless we are wrong. What the world does wrong is an
 * AppError. Node's own can compare and explain, which nobody here needs, and takes half a megabyte.
 */

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws an AssertionError with `message` unless `fact` is true. */
export function assert(fact: boolean, message = 'what must be true is not'): asserts fact {
  if (!fact) throw new AssertionError(message);
}
