/** A list of attempts in order, and when the next one is due. */
import { h, type Child } from '../base/dom.ts';
import { formatDuration, timeElement } from '../base/format.ts';
import { describeRun } from './run-description.ts';
import type { Attempt } from '../../webhooks/deliveries/delivery.ts';

export type TimelineStep = {
  readonly at: string;
  readonly durationMs: number;
  readonly isGood: boolean;
  readonly text: string;
  /** More of it, in the same line. */
  readonly note?: string;
  /** Shown when the user unfolds it. */
  readonly detail: string | null;
  /** Names `detail`. */
  readonly summary?: string;
};

/** `wait` says what the next attempt waits for; it is shown in place of `nextAt`. */
export function timeline(
  steps: readonly TimelineStep[], nextAt: string | null, wait: string | null = null,
): HTMLElement {
  const items = steps.map(renderStep);
  const addWaitingItem = (...text: readonly Child[]): void =>
    void items.push(h('li.waiting', {}, ...text));
  if (wait !== null) addWaitingItem(wait);
  else if (nextAt !== null) addWaitingItem('next attempt ', timeElement(nextAt));
  if (items.length === 0) return h('p.hint', 'Nothing was tried.');
  return h('ol.timeline', {}, ...items);
}

/** A run of the action of a route. */
export function runStep(attempt: Attempt): TimelineStep {
  const { at, durationMs, success = false, message = null, data = null } = attempt;
  const { text, end, ranMs, output, isCutOff } = describeRun({ success, message, data });
  const step = { at, durationMs, isGood: success, text, detail: output };
  if (end === null || ranMs === null) return step;
  return {
    ...step, note: `${end}, ran for ${formatDuration(ranMs)}`,
    summary: isCutOff ? 'Output, cut off' : 'Output',
  };
}

function renderStep(
  { at, durationMs, isGood, text, note, detail, summary = 'What came back' }: TimelineStep,
): HTMLElement {
  return h('li', { class: isGood ? 'good' : 'bad' }, timeElement(at), ' ', h('strong', text),
    ` in ${formatDuration(durationMs)}`,
    note === undefined ? null : h('span.place', ` (${note})`),
    detail === null ? null : h('details', h('summary', summary), h('pre', detail)));
}
