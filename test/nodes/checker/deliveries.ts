/**
 * Every acknowledged put is told to the receiver, as one delivery; a refused one never. That holds
 * for a webhook that was made later, too, once a backfill has told it what it had missed. Attempts
 * of a delivery overlap only where a process stood still. What the log says of a delivery goes only
 * forward: a final one stays final, and no attempt is forgotten. To a receiver with order by key no
 * delivery begins before those of all earlier writes of its record are over. In the end each
 * delivery is one record, and a webhook has one of each event.
 */
import { describe, wasFrozen } from './history.ts';
import type { Attempt, History, Violation } from './history.ts';
import { groupBy } from './registers.ts';

export function checkDeliveries(history: History): Violation[] {
  return [
    ...history.hooks.flatMap((hook) => checkTold(history, hook)), ...checkOverlaps(history),
    ...checkStates(history), ...checkRecords(history),
    ...history.orderedHooks.flatMap((hook) => checkOrder(history, hook)),
  ];
}

function checkTold(history: History, hook: string): Violation[] {
  const attempts = attemptsByToken(history, hook);
  return history.writes.flatMap((write): Violation[] => {
    if (write.kind === 'delete') return [];
    const ids = new Set((attempts.get(write.token) ?? []).map(({ delivery }) => delivery));
    const told = (text: string): Violation[] =>
      [{ rule: 'delivery', message: `${describe(write)}: ${text} (${hook})` }];
    if (ids.size > 1) return told(`told in ${ids.size} deliveries`);
    if (write.outcome === 'ok' && ids.size === 0) return told('it was never attempted to tell');
    return write.outcome === 'refused' && ids.size > 0 ? told('it was told all the same') : [];
  });
}

function checkOverlaps(history: History): Violation[] {
  return [...groupBy(history.attempts, ({ delivery }) => delivery)].flatMap(([delivery, own]) => {
    const ordered = [...own].sort((left, right) => left.beginMs - right.beginMs);
    let last: Attempt | undefined;
    return ordered.flatMap((attempt): Violation[] => {
      const before = last;
      if (last === undefined || attempt.endMs > last.endMs) last = attempt;
      if (before === undefined || attempt.beginMs >= before.endMs) return [];
      if (wasFrozen(history, before.beginMs, attempt.endMs)) return [];
      return [{ rule: 'delivery', message: `attempts of ${delivery} overlap: `
        + `from ${before.beginMs.toFixed(0)} to ${before.endMs.toFixed(0)} ms, `
        + `and from ${attempt.beginMs.toFixed(0)} ms` }];
    });
  });
}

/**
 * The order is that of the log, as the streams tell it. What was written while a late webhook was
 * being made, and its backfill begun, may be told of at once, before that: it may also be what the
 * backfill has missed.
 */
function checkOrder(history: History, hook: string): Violation[] {
  const late = history.lateHooks.find((one) => one.hook === hook);
  const unsure = new Set(late === undefined ? [] : history.writes
    .filter(({ beginMs, endMs }) => beginMs <= late.endMs && endMs >= late.beginMs)
    .map(({ token }) => token));
  const events = new Map(history.followers.flatMap((follower) => follower.events)
    .map((event) => [event.sequence, event]));
  const inOrder = [...events.values()].sort((left, right) => left.sequence - right.sequence);
  const attempts = attemptsByToken(history, hook);
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
      const isExcused = unsure.has(token ?? '') || wasFrozen(
        history, Math.min(beginMs, before.beginMs), Math.max(endMs, before.endMs));
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

/** Nothing that was attempted is forgotten, and nothing that was made was never attempted. */
function checkRecords({ attempts, records }: History): Violation[] {
  if (records === null) return [];
  const found = (message: string): Violation => ({ rule: 'record', message });
  const attempted = new Map(attempts.map(({ delivery, hook }) => [delivery, hook]));
  const kept = new Map(records.map((record) => [record.delivery, record]));
  const forgotten = [...attempted].filter(([delivery]) => !kept.has(delivery))
    .map(([delivery, hook]) => found(`${delivery} of ${hook} was attempted, and has no record`));
  const open = records
    .filter(({ delivery, isDelivered }) => !isDelivered || !attempted.has(delivery))
    .map(({ delivery, hook }) => found(`${delivery} of ${hook} was never delivered`));
  const doubled = [...groupBy(records, ({ hook, event }) => `${hook} ${event}`)]
    .filter(([, own]) => own.length > 1)
    .map(([name, own]) => found(`${name} has ${own.length} deliveries`));
  return [...forgotten, ...open, ...doubled];
}

/** The attempts to tell a webhook, by the token of what it was told. */
export function attemptsByToken({ attempts }: History, hook: string): Map<string, Attempt[]> {
  return groupBy(attempts.filter((attempt) => attempt.hook === hook), ({ token }) => token);
}
