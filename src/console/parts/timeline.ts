/** A list of attempts in order, each as a step, and when the next one is due. */
import { h, type Child } from '../base/dom.ts';
import { formatDuration, timeElement } from '../base/format.ts';
import { encodeJson, formatPrettyJson } from '../base/json-text.ts';
import type { Attempt } from '../../webhooks/deliveries/delivery.ts';

export type TimelineStep = {
  readonly at: string;
  readonly durationMs: number;
  readonly isGood: boolean;
  readonly text: string;
  /** More of it, in the same line. */
  readonly note?: string;
  /** Folded, but that of the last failure. */
  readonly detail: string | null;
  /** Names `detail`. */
  readonly summary?: string;
};

/** `wait` says what the next attempt waits for; it is shown in place of `nextAt`. */
export function timeline(
  steps: readonly TimelineStep[], nextAt: string | null, wait: Child = null,
): HTMLElement {
  // People come to see why it failed: the answer to the last failure is unfolded.
  const lastFailure = steps.findLast(({ isGood }) => !isGood);
  const items = steps.map((step) => renderStep(step, step === lastFailure));
  const addWaitingItem = (...text: readonly Child[]): void =>
    void items.push(h('li.waiting', {}, ...text));
  if (wait !== null) addWaitingItem(wait);
  else if (nextAt !== null) addWaitingItem('next attempt ', timeElement(nextAt));
  if (items.length === 0) return h('p.hint', 'Nothing was tried.');
  return h('ol.timeline', {}, ...items);
}

/** The data of a run of `run-command`. */
type CommandData = {
  /** null: a signal has ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Without the time that the command waited for others. */
  readonly durationMs: number;
  /** Text, or what its JSON stood for. */
  readonly output?: unknown;
  /** Whether there was more output than is kept. */
  readonly truncated?: boolean;
};

/** The data of a run of `http-forward` that failed. */
type ForwardData = {
  readonly method: string;
  /** Without secrets. */
  readonly url: string;
  /** The beginning of the answer; absent: there was none. */
  readonly response?: string;
};

/** A run of the action of a route: its outcome, the output of a command, a forward's answer. */
export function runStep(
  { at, durationMs, success = false, message = null, data = null }: Attempt,
): TimelineStep {
  const text = message ?? (success ? 'done' : 'failed');
  const step = { at, durationMs, isGood: success, text, detail: null };
  if (data === null) return step;
  if ('coalesced' in data && data.coalesced === true) {
    return { ...step, text: 'coalesced: a newer request ran for it' };
  }
  if (isForwardData(data)) {
    const { method, url, response } = data;
    return { ...step, note: `${method} ${url}`, detail: formatResponse(response) };
  }
  if (!isCommandData(data)) return { ...step, detail: formatOutput(data) };
  const { exitCode, signal, durationMs: ranMs, output, truncated = false } = data;
  const end = exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`;
  return {
    ...step, detail: formatOutput(output), note: `${end}, ran for ${formatDuration(ranMs)}`,
    summary: truncated ? 'Output, cut off' : 'Output',
  };
}

/** The body of a response for people; null: there was none. */
export function formatResponse(response: string | null = null): string | null {
  if (response === null || response === '') return null;
  return formatPrettyJson(response) ?? response;
}

function formatOutput(output: unknown): string | null {
  if (typeof output === 'string') return output === '' ? null : output;
  const json = encodeJson(output, 2);
  return json === undefined || json === '{}' ? null : json;
}

function isCommandData(data: object): data is CommandData {
  return 'exitCode' in data && 'signal' in data
    && 'durationMs' in data && typeof data.durationMs === 'number';
}

function isForwardData(data: object): data is ForwardData {
  return 'statusCode' in data && 'method' in data && 'url' in data;
}

function renderStep(
  { at, durationMs, isGood, text, note, detail, summary = 'What came back' }: TimelineStep,
  isUnfolded: boolean,
): HTMLElement {
  return h('li', { class: isGood ? 'good' : 'bad' }, timeElement(at), ' ', h('strong', text),
    ` in ${formatDuration(durationMs)}`,
    note === undefined ? null : h('span.place', ` (${note})`),
    detail === null ? null
      : h('details', { open: isUnfolded }, h('summary', summary), h('pre', detail)));
}
