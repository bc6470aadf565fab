/**
 * Every acknowledged put is told to the receiver, as one delivery; a refused one never. Attempts of
 * a delivery overlap only where a process stood still. What the log says of a delivery goes only
 * forward: a final one stays final, and no attempt is forgotten. To a receiver with order by key no
 * delivery begins before those of all earlier writes of its record are over.
 */
import { describe } from './history.ts';
import type { Attempt, History, Violation } from './history.ts';
import { groupBy } from './registers.ts';

export function checkDeliveries(history: History): Violation[] {
  return [
    ...history.hooks.flatMap((hook) => checkTold(history, hook)), ...checkOverlaps(history),
    ...checkStates(history),
    ...history.orderedHooks.flatMap((hook) => checkOrder(history, hook)),
  ];
}

function checkTold(history: History, hook: string): Violation[] {
  const own = history.attempts.filter((attempt) => attempt.hook === hook);
  const byToken = groupBy(own, ({ token }) => token);
  return history.writes.flatMap((write): Violation[] => {
    if (write.kind === 'delete') return [];
    const ids = new Set((byToken.get(write.token) ?? []).map(({ delivery }) => delivery));
    const told = (text: string): Violation[] =>
      [{ rule: 'delivery', message: `${describe(write)}: ${text} (${hook})` }];
    if (ids.size > 1) return told(`told in ${ids.size} deliveries`);
    if (write.outcome === 'ok' && ids.size === 0) return told('it was never attempted to tell');
    return write.outcome === 'refused' && ids.size > 0 ? told('it was told all the same') : [];
  });
}

function checkOverlaps({ attempts, frozen }: History): Violation[] {
  return [...groupBy(attempts, ({ delivery }) => delivery)].flatMap(([delivery, own]) => {
    const ordered = [...own].sort((left, right) => left.beginMs - right.beginMs);
    let last: Attempt | undefined;
    return ordered.flatMap((attempt): Violation[] => {
      const before = last;
      if (last === undefined || attempt.endMs > last.endMs) last = attempt;
      if (before === undefined || attempt.beginMs >= before.endMs) return [];
      const isExcused = frozen.some(({ beginMs, endMs }) =>
        beginMs <= attempt.endMs && endMs >= before.beginMs);
      return isExcused ? [] : [{ rule: 'delivery', message: `attempts of ${delivery} overlap: `
        + `from ${before.beginMs.toFixed(0)} to ${before.endMs.toFixed(0)} ms, `
        + `and from ${attempt.beginMs.toFixed(0)} ms` }];
    });
  });
}

/** The order is that of the log, as the streams tell it. */
function checkOrder(history: History, hook: string): Violation[] {
  const events = new Map(history.followers.flatMap((follower) => follower.events)
    .map((event) => [event.sequence, event]));
  const inOrder = [...events.values()].sort((left, right) => left.sequence - right.sequence);
  const attempts = groupBy(
    history.attempts.filter((attempt) => attempt.hook === hook), ({ token }) => token);
  return [...groupBy(inOrder, ({ key }) => key)].flatMap(([key, writes]) => {
    // The attempt of an earlier write that was over last.
    let last: Attempt | undefined;
    return writes.flatMap(({ token }): Violation[] => {
      const own = token === null ? [] : attempts.get(token) ?? [];
      const before = last;
      const beginMs = Math.min(...own.map((attempt) => attempt.beginMs));
      for (const attempt of own) {
        if (last === undefined || attempt.endMs > last.endMs) last = attempt;
      }
      if (before === undefined || beginMs >= before.endMs) return [];
      const endMs = Math.max(...own.map((attempt) => attempt.endMs));
      const isExcused = history.frozen.some((frozen) =>
        frozen.beginMs <= Math.max(endMs, before.endMs)
        && frozen.endMs >= Math.min(beginMs, before.beginMs));
      return isExcused ? [] : [{ rule: 'overtaken', message: `${token} of ${key} was told from `
        + `${beginMs.toFixed(0)} ms on, but ${before.token} before it until `
        + `${before.endMs.toFixed(0)} ms (${hook})` }];
    });
  });
}

function checkStates({ deliveries }: History): Violation[] {
  return [...groupBy(deliveries, ({ delivery }) => delivery)].flatMap(([delivery, own]) => {
    const states = [...own].sort((left, right) => left.sequence - right.sequence);
    return states.flatMap((state, index): Violation[] => {
      const before = states[index - 1];
      if (before === undefined) return [];
      const isBack = before.isFinal && !state.isFinal;
      const isForgotten = state.attempts < before.attempts;
      return isBack || isForgotten ? [{ rule: 'delivery',
        message: `${delivery} at ${state.sequence} is ${state.isFinal ? 'final' : 'open'} after `
          + `${state.attempts} attempts, but was ${before.isFinal ? 'final' : 'open'} after `
          + `${before.attempts} at ${before.sequence}` }] : [];
    });
  });
}
