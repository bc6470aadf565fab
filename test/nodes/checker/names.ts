/**
 * A unique name is a lock: a create takes it, a delete gives it back. A holder surely has it from
 * the end of its create to the begin of its delete. The history is linearizable when no two of
 * these spans overlap, and when who held it for a moment alone finds a moment outside of them.
 */
import { describe } from './history.ts';
import type { History, Violation, Write } from './history.ts';
import type { Merged } from './merged.ts';
import { groupBy } from './registers.ts';

type Holder = {
  readonly create: Write;
  /** The release's begin and end; Infinity: it still holds. */
  readonly releaseBeginMs: number;
  readonly releaseEndMs: number;
};

export function checkNames(history: History, merged: Merged): Violation[] {
  const holders = holdersOf(history, merged);
  const violations = [...holders].flatMap(([name, all]) => checkHolders(name, all));
  return [...violations, ...checkTaken(history, holders)];
}

function holdersOf(history: History, { effects }: Merged): Map<string, Holder[]> {
  const deletes = new Map<string, Write>();
  for (const { write, key } of effects) if (write.kind === 'delete') deletes.set(key, write);
  const creates = effects.filter(({ write }) => write.kind === 'create' && write.name !== null);
  const perhaps = new Map<string, Write>();
  for (const write of history.writes) {
    if (write.kind === 'delete' && write.outcome === 'unknown' && write.key !== null) {
      perhaps.set(write.key, write);
    }
  }
  const names = groupBy(creates, ({ write }) => write.name ?? '');
  return new Map([...names].map(([name, own]) => [name, own.map(({ write, key }) => {
    const release = deletes.get(key) ?? perhaps.get(key);
    const isSure = release !== undefined && release.outcome === 'ok';
    return {
      create: write, releaseBeginMs: release?.beginMs ?? Infinity,
      releaseEndMs: isSure ? release.endMs : Infinity,
    };
  })]));
}

function checkHolders(name: string, holders: readonly Holder[]): Violation[] {
  const isLong = (holder: Holder): boolean => holder.create.endMs < holder.releaseBeginMs;
  const long = holders.filter(isLong).sort((left, right) => left.create.endMs - right.create.endMs);
  const violations: Violation[] = [];
  let last: Holder | undefined;
  for (const holder of long) {
    if (last !== undefined && holder.create.endMs < last.releaseBeginMs) {
      violations.push(both(name, last, holder));
    }
    if (last === undefined || holder.releaseBeginMs > last.releaseBeginMs) last = holder;
  }
  for (const holder of holders) {
    if (isLong(holder)) continue;
    // Any moment at which both its create and its delete can have been.
    let moment = Math.max(holder.create.beginMs, holder.releaseBeginMs);
    const latest = Math.min(holder.create.endMs, holder.releaseEndMs);
    for (const { create, releaseBeginMs } of long) {
      if (moment > create.endMs && moment < releaseBeginMs) moment = releaseBeginMs;
    }
    const other = long.at(-1);
    if (moment > latest && other !== undefined) violations.push(both(name, other, holder));
  }
  return violations;
}

function both(name: string, one: Holder, other: Holder): Violation {
  return { rule: 'unique', message: `two records had the name ${name} at once: `
    + `${describe(one.create)}; ${describe(other.create)}` };
}

/** Who was told that a name is taken needs somebody who may have had it meanwhile. */
function checkTaken(history: History, holders: ReadonlyMap<string, Holder[]>): Violation[] {
  const creates = groupBy(history.writes.filter(({ kind, outcome }) =>
    kind === 'create' && outcome !== 'refused'), ({ name }) => name);
  return history.writes.flatMap((write): Violation[] => {
    if (write.refusal !== 'taken' || write.name === null) return [];
    const released = new Map((holders.get(write.name) ?? []).map((holder) =>
      [holder.create, holder.releaseEndMs]));
    const isTaken = (creates.get(write.name) ?? []).some((create) =>
      create.beginMs <= write.endMs && (released.get(create) ?? Infinity) >= write.beginMs);
    if (isTaken) return [];
    return [{ rule: 'refusal', message: `${describe(write)}: nobody had the name ${write.name}` }];
  });
}
