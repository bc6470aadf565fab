/** The order of partial dates (partial-date.ts). The console's scripts have it: no imports. */

/**
 * Whether `left` is certainly earlier than `right`. Only the parts that both have are compared, so
 * 1960 is not before 1960-05.
 */
export function isBefore(left: string, right: string): boolean {
  const length = Math.min(left.length, right.length);
  return left.slice(0, length) < right.slice(0, length);
}
