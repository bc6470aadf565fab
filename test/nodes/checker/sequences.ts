/** Sequences order all writes: who begins after another's end comes after it, on any node. */
import { describe } from './history.ts';
import type { History, Violation } from './history.ts';
import type { Effect, Merged } from './merged.ts';
import type { Chains } from './registers.ts';

export function checkSequences(history: History, merged: Merged, chains: Chains): Violation[] {
  return [
    ...checkClaims(history, merged), ...checkRealTime(merged.effects), ...checkChains(chains),
  ];
}

/** An answer names a sequence by which the log holds the write; what came with it may be later. */
function checkClaims(history: History, { events }: Merged): Violation[] {
  const logged = new Map(events.flatMap(({ token, sequence }) =>
    token === null ? [] : [[token, sequence] as const]));
  return history.writes.flatMap((write): Violation[] => {
    const { sequence, token, outcome } = write;
    const actual = logged.get(token) ?? 0;
    if (sequence === null || outcome !== 'ok' || actual <= sequence) return [];
    return [{ rule: 'sequence',
      message: `${describe(write)}: answered ${sequence}, but it is at ${actual}` }];
  });
}

function checkRealTime(effects: readonly Effect[]): Violation[] {
  const known = effects.filter(({ sequence }) => sequence !== null);
  const byBegin = [...known].sort((left, right) => left.write.beginMs - right.write.beginMs);
  const byEnd = [...known].sort((left, right) => left.write.endMs - right.write.endMs);
  const violations: Violation[] = [];
  let ended = 0;
  let highest: Effect | undefined;
  for (const effect of byBegin) {
    for (; ended < byEnd.length; ended += 1) {
      const earlier = byEnd[ended];
      if (earlier === undefined || earlier.write.endMs >= effect.write.beginMs) break;
      if ((earlier.sequence ?? 0) > (highest?.sequence ?? -1)) highest = earlier;
    }
    if (highest !== undefined && (highest.sequence ?? 0) > (effect.sequence ?? 0)) {
      violations.push({ rule: 'sequence', message: `${describe(effect.write)} is at `
        + `${effect.sequence}, before ${highest.sequence}, which was over when it began: `
        + describe(highest.write) });
    }
  }
  return violations;
}

function checkChains(chains: Chains): Violation[] {
  return [...chains].flatMap(([key, chain]) => {
    let last = -1;
    return chain.flatMap(({ write, sequence }): Violation[] => {
      if (sequence === null) return [];
      const isRising = sequence > last;
      last = Math.max(last, sequence);
      return isRising ? [] : [{ rule: 'sequence',
        message: `${describe(write)} is at ${sequence}, but ${key} is at ${last} before it` }];
    });
  });
}
