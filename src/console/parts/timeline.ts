/** A list of attempts in order, and when the next one is due. */
import { h, type Child } from '../base/dom.ts';
import { formatDuration, timeElement } from '../base/format.ts';

type TimelineStep = {
  readonly at: string;
  readonly durationMs: number;
  readonly isGood: boolean;
  readonly text: string;
  /** Shown when the user unfolds it. */
  readonly detail: string | null;
};

/** `wait` says what the next attempt waits for; it is shown in place of `nextAt`. */
export function timeline(
  steps: readonly TimelineStep[], nextAt: string | null, wait: string | null = null,
): HTMLElement {
  const items = steps.map(({ at, durationMs, isGood, text, detail }) =>
    h('li', { class: isGood ? 'good' : 'bad' }, timeElement(at), ' ', h('strong', text),
      ` in ${formatDuration(durationMs)}`, detail === null ? null
        : h('details', h('summary', 'What came back'), h('pre', detail))));
  const addWaitingItem = (...text: readonly Child[]): void =>
    void items.push(h('li.waiting', {}, ...text));
  if (wait !== null) addWaitingItem(wait);
  else if (nextAt !== null) addWaitingItem('next attempt ', timeElement(nextAt));
  if (items.length === 0) return h('p.hint', 'Nothing was tried.');
  return h('ol.timeline', {}, ...items);
}

/** What an action has returned, for `detail`; null: nothing. */
export function formatRunResult(data: unknown): string | null {
  return data === null || JSON.stringify(data) === '{}' ? null : JSON.stringify(data, null, 2);
}
