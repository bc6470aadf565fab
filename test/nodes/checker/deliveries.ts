/**
 * Every acknowledged put is told to the receiver, as one delivery; a refused one never. Attempts of
 * a delivery overlap only where a process stood still. What the log says of a delivery goes only
 * forward: a final one stays final, and no attempt is forgotten.
 */
import { describe } from './history.ts';
import type { Attempt, History, Violation } from './history.ts';
import { groupBy } from './registers.ts';

export function checkDeliveries(history: History): Violation[] {
  return [
    ...history.hooks.flatMap((hook) => checkTold(history, hook)), ...checkOverlaps(history),
    ...checkStates(history),
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
