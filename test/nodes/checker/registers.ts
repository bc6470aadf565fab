/**
 * Each record is a register with compare-and-set. As every version has a name of its own and every
 * write names the version it is for, the order of a record's writes follows from the history: one
 * chain. It is linearizable when the chain does not fork, and when no write in it was over before
 * an earlier one in it began.
 */
import { describe } from './history.ts';
import type { History, Violation } from './history.ts';
import type { Effect, Merged } from './merged.ts';

/** The writes of each record in their order. */
export type Chains = ReadonlyMap<string, readonly Effect[]>;

export function chainsOf(
  { effects }: Merged,
): { readonly chains: Chains; readonly violations: readonly Violation[] } {
  const violations: Violation[] = [];
  const chains = new Map<string, readonly Effect[]>();
  for (const [key, own] of groupBy(effects, ({ key }) => key)) {
    chains.set(key, chainOf(key, own, violations));
  }
  return { chains, violations };
}

function chainOf(key: string, effects: readonly Effect[], violations: Violation[]): Effect[] {
  const after = new Map<string | null, Effect>();
  // Those that were acknowledged first: an unknown one loses against them.
  for (const effect of effects) {
    const other = after.get(effect.write.expected);
    if (other === undefined) after.set(effect.write.expected, effect);
    else {
      violations.push({ rule: 'winner', message: `two won over the same version of ${key}: `
        + `${describe(other.write)}; ${describe(effect.write)}` });
    }
  }
  const chain: Effect[] = [];
  let next = after.get(null);
  while (next !== undefined && chain.length <= effects.length) {
    chain.push(next);
    next = next.write.kind === 'delete' ? undefined : after.get(next.write.token);
  }
  for (const effect of effects) {
    if (!chain.includes(effect) && after.get(effect.write.expected) === effect) {
      violations.push({ rule: 'winner',
        message: `${describe(effect.write)}: the version that it is for never was` });
    }
  }
  let latestBegin: Effect | undefined;
  for (const effect of chain) {
    if (latestBegin !== undefined && effect.write.endMs < latestBegin.write.beginMs) {
      violations.push({ rule: 'order', message: `${describe(effect.write)} follows in the record `
        + `what began only after its end: ${describe(latestBegin.write)}` });
    }
    if (latestBegin === undefined || effect.write.beginMs > latestBegin.write.beginMs) {
      latestBegin = effect;
    }
  }
  return chain;
}

/**
 * A refusal for what a record is must have been true at a moment between its begin and its end:
 * `mismatch` and `missing` need another write that may have been done by then.
 */
export function checkMismatches(history: History): Violation[] {
  const changed = new Map<string, number>();
  const deleted = new Map<string, number>();
  for (const { outcome, expected, kind, key, beginMs } of history.writes) {
    if (outcome === 'refused' || expected === null) continue;
    changed.set(expected, Math.min(changed.get(expected) ?? Infinity, beginMs));
    if (kind === 'delete' && key !== null) {
      deleted.set(key, Math.min(deleted.get(key) ?? Infinity, beginMs));
    }
  }
  const ended = new Map(history.writes.map(({ token, endMs }) => [token, endMs]));
  return history.writes.flatMap((write): Violation[] => {
    const { refusal, expected, key, beginMs, endMs } = write;
    if (expected === null || (refusal !== 'mismatch' && refusal !== 'missing')) return [];
    // The version itself may not have been there yet.
    if ((ended.get(expected) ?? Infinity) > beginMs) return [];
    const sinceMs = refusal === 'mismatch'
      ? changed.get(expected) ?? Infinity : deleted.get(key ?? '') ?? Infinity;
    if (sinceMs <= endMs) return [];
    return [{ rule: 'refusal', message: `${describe(write)}: nothing else can have changed it` }];
  });
}

export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
