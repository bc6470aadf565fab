/**
 * When a node has to show what another one has acknowledged: `staleMsMax` later, of which the node
 * had the engine all the time. It is excused while the engine was not there for it, and then for
 * as long again, since it asks after pauses that grow with the outage, but not for longer than
 * `catchUpMsMax`. No other excuse counts.
 */
import type { History } from './history.ts';

/** From when to when a node need not have seen anything new. */
export type Excuse = { readonly beginMs: number; readonly endMs: number };

/** In order; none touches another. */
export function excusesOf(
  { cuts, staleMsMax, catchUpMsMax }: History, node: string,
): readonly Excuse[] {
  const own = cuts.filter((cut) => cut.node === node)
    .sort((left, right) => left.beginMs - right.beginMs);
  const excuses: { readonly beginMs: number; cutMs: number; endMs: number }[] = [];
  for (const { beginMs, endMs } of own) {
    const last = excuses.at(-1);
    const isOn = last !== undefined && beginMs <= last.endMs;
    const excuse = isOn ? last : { beginMs, cutMs: endMs, endMs };
    if (!isOn) excuses.push(excuse);
    // What breaks again before it was mended is one outage.
    excuse.cutMs = Math.max(excuse.cutMs, endMs);
    const longAgainMs = staleMsMax + excuse.cutMs - excuse.beginMs;
    excuse.endMs = excuse.cutMs + Math.min(longAgainMs, catchUpMsMax);
  }
  return excuses;
}

/** When what was acknowledged at `atMs` must be seen by every read that begins later. */
export function dueMs(atMs: number, excuses: readonly Excuse[], staleMsMax: number): number {
  let fromMs = atMs;
  for (const { beginMs, endMs } of excuses) {
    if (beginMs - fromMs > staleMsMax) break;
    fromMs = Math.max(fromMs, endMs);
  }
  return fromMs + staleMsMax;
}
