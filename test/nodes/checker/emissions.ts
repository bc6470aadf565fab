/**
 * An event that was acknowledged begins once, when its time has come and not before, and is told to
 * each receiver as one delivery. One whose cancellation was acknowledged never begins; what is
 * refused to cancel has begun. To a receiver with order by key no event of a key is told before
 * those that began earlier are.
 */
import { attemptsByToken } from './deliveries.ts';
import { wasFrozen } from './history.ts';
import type { Emission, History, Violation } from './history.ts';
import { groupBy } from './registers.ts';

export function checkEmissions(history: History): Violation[] {
  return [
    ...history.emissionHooks.flatMap((hook) => checkTold(history, hook)),
    ...history.emissions.flatMap((emission) => checkCancellation(history, emission)),
    ...history.orderedEmissionHooks.flatMap((hook) => checkOrder(history, hook)),
  ];
}

function checkTold(history: History, hook: string): Violation[] {
  const attempts = attemptsByToken(history, hook);
  return history.emissions.flatMap((emission): Violation[] => {
    const { outcome, token, cancellation, dueFromMs, isDelayed } = emission;
    const found = (rule: Violation['rule'], text: string): Violation[] =>
      [{ rule, message: `${describeEmission(emission)}: ${text} (${hook})` }];
    const own = attempts.get(token) ?? [];
    const count = new Set(own.map(({ delivery }) => delivery)).size;
    if (count > 1) return found('delivery', `told in ${count} deliveries`);
    if (outcome === 'refused' && count > 0) return found('delivery', 'it was told all the same');
    if (cancellation?.outcome === 'ok') {
      return count > 0 ? found('cancelled', 'it was cancelled, and told all the same') : [];
    }
    const mayBeGone = cancellation?.outcome === 'unknown';
    if (outcome === 'ok' && !mayBeGone && count === 0) {
      return found('delivery', 'it was never attempted to tell');
    }
    const firstMs = Math.min(...own.map(({ beginMs }) => beginMs));
    return isDelayed && firstMs < dueFromMs - history.clockOffMs
      ? found('early', `told at ${firstMs.toFixed(0)} ms`) : [];
  });
}

/** A refusal must be true: what is there can be cancelled until it begins. */
function checkCancellation(history: History, emission: Emission): Violation[] {
  const { outcome, cancellation, isDelayed, dueFromMs } = emission;
  if (outcome !== 'ok' || cancellation === null) return [];
  const { refusal, endMs } = cancellation;
  const found = (text: string): Violation[] =>
    [{ rule: 'refusal', message: `${describeEmission(emission)}: ${text}` }];
  if (refusal === 'missing') return found('it was not there to be cancelled');
  const isEarly = isDelayed && endMs < dueFromMs - history.clockOffMs;
  return refusal === 'begun' && isEarly ? found('it cannot have begun yet') : [];
}

function checkOrder(history: History, hook: string): Violation[] {
  const attempts = attemptsByToken(history, hook);
  return [...groupBy(history.emissions, ({ key }) => key)].flatMap(([key, emissions]) =>
    emissions.flatMap((later) => emissions.flatMap((earlier): Violation[] => {
      if (!isEarlier(earlier, later, history)) return [];
      const first = attempts.get(later.token) ?? [];
      const last = attempts.get(earlier.token) ?? [];
      const beginMs = Math.min(...first.map((attempt) => attempt.beginMs));
      const endMs = Math.max(...last.map((attempt) => attempt.endMs));
      if (first.length === 0 || last.length === 0 || beginMs >= endMs) return [];
      const all = [...first, ...last];
      const isExcused = wasFrozen(history, Math.min(...all.map((attempt) => attempt.beginMs)),
        Math.max(...all.map((attempt) => attempt.endMs)));
      return isExcused ? [] : [{ rule: 'overtaken', message: `${describeEmission(later)} was told `
        + `from ${beginMs.toFixed(0)} ms on, but ${describeEmission(earlier)} of ${key} before it `
        + `until ${endMs.toFixed(0)} ms (${hook})` }];
    })));
}

/**
 * Whether an event surely began before another. When a node begins a delayed one is not known to
 * the microsecond, or to many seconds if that node is gone: what comes at once may pass it then.
 */
function isEarlier(one: Emission, other: Emission, { clockOffMs }: History): boolean {
  if (one.isDelayed && !other.isDelayed) return false;
  const offMs = one.isDelayed || other.isDelayed ? clockOffMs : 0;
  return one.dueToMs + offMs < other.dueFromMs;
}

function describeEmission(emission: Emission): string {
  const { token, node, beginMs, endMs, outcome, dueFromMs, dueToMs, cancellation } = emission;
  const cancelled = cancellation === null ? '' : `, cancelled ${cancellation.beginMs.toFixed(0)}…`
    + `${cancellation.endMs.toFixed(0)} ms: ${cancellation.outcome}`
    + `${cancellation.refusal === null ? '' : ` (${cancellation.refusal})`}`;
  return `${token} at ${node}, ${beginMs.toFixed(0)}…${endMs.toFixed(0)} ms: ${outcome}, due at `
    + `${dueFromMs.toFixed(0)}…${dueToMs.toFixed(0)} ms${cancelled}`;
}
