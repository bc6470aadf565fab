/** Refuses a target on the deny list when it is saved, and not with each attempt. */
import { invalid } from '../../base/fields.ts';
import type { Change } from '../../store/store-port.ts';

/**
 * Throws `invalid` at `pointer` if the change names a denied target. A target that was stored
 * before, perhaps under another list, may stay, so that the webhook can still be disabled or
 * changed. `findTarget` reads the target from a stored record.
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
