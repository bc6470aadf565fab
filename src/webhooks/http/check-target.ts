/** A target that is never connected to is refused when it is saved, not with each attempt. */
import { invalid } from '../../base/fields.ts';
import type { Change } from '../../store/store-port.ts';

/**
 * Throws `invalid` at `pointer` when the change names a denied target. One that was stored before,
 * perhaps under another list, may stay: the webhook must still be disabled or mended in parts.
 * `findTarget` reads the target from a stored record.
 */
export function checkTarget(
  { before, after }: Pick<Change, 'before' | 'after'>, pointer: string,
  findTarget: (record: Buffer) => string | null, isDenied: (url: string) => boolean,
): void {
  const target = after === null ? null : findTarget(after);
  if (target === null || !isDenied(target)) return;
  if (before !== null && findTarget(before) === target) return;
  throw invalid([{
    pointer,
    detail: 'leads to an address on the list http.denyAddresses, which is never connected to',
  }]);
}
