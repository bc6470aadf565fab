/** One run of the action of a route, for the timeline: what it said, and of a command its output. */
import { formatDuration } from '../base/format.ts';
import type { TimelineStep } from './timeline.ts';
import type { RunAttempt } from '../../webhooks/deliveries/route-delivery.ts';

/** The data of a run of `run-command`. */
type CommandData = {
  /** null: a signal has ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /** Text, or what its JSON stood for. */
  readonly output?: unknown;
  /** Whether there was more output than is kept. */
  readonly truncated?: boolean;
};

export function runStep({ at, durationMs, success, message, data }: RunAttempt): TimelineStep {
  const step = { at, durationMs, isGood: success, text: message ?? (success ? 'done' : 'failed') };
  if (isCoalesced(data)) {
    return { ...step, text: 'coalesced: a newer request ran for it', detail: null };
  }
  if (!isCommandData(data)) return { ...step, detail: formatData(data) };
  const { output, truncated = false } = data;
  return {
    ...step, note: formatEnd(data), summary: truncated ? 'Output, cut off' : 'Output',
    detail: output === undefined || output === '' ? null : formatOutput(output),
  };
}

/** `exit code 3, ran for 1.2 s` */
function formatEnd({ exitCode, signal, durationMs }: CommandData): string {
  const end = exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`;
  return `${end}, ran for ${formatDuration(durationMs)}`;
}

function formatOutput(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output, null, 2);
}

/** null: the action has returned nothing. */
function formatData(data: object | null): string | null {
  return data === null || JSON.stringify(data) === '{}' ? null : JSON.stringify(data, null, 2);
}

function isCoalesced(data: object | null): boolean {
  return data !== null && 'coalesced' in data && data.coalesced === true;
}

function isCommandData(data: object | null): data is CommandData {
  return data !== null && 'exitCode' in data && 'signal' in data
    && 'durationMs' in data && typeof data.durationMs === 'number';
}
