/**
 * Checks facts that hold unless the program has a bug. Errors of input and of the world are
 * AppErrors. Node's own `assert` can compare and explain, which nothing here needs, and takes half
 * a megabyte.
 */

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws an AssertionError with `message` unless `fact` is true. */
export function assert(fact: boolean, message = 'what must be true is not'): asserts fact {
  if (!fact) throw new AssertionError(message);
}
