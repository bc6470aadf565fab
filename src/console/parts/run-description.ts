/** Describes one run of the action of a route: its outcome, and the output of a command. Pure. */
import { encodeJson } from '../base/json-text.ts';
import type { RunAttempt } from '../../webhooks/deliveries/delivery.ts';

type RunDescription = {
  readonly text: string;
  /** How its command ended, such as `exit code 3`; null: it was no command, or never began. */
  readonly end: string | null;
  /** How long its command ran, without the time that it waited for others; null: as `end`. */
  readonly ranMs: number | null;
  /** The output of the command, or the data of the action; null: nothing. */
  readonly output: string | null;
  /** Whether there was more output than is kept. */
  readonly isCutOff: boolean;
};

/** The data of a run of `run-command`. */
type CommandData = {
  /** null: a signal has ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /** Text, or what its JSON stood for. */
  readonly output?: unknown;
  readonly truncated?: boolean;
};

export function describeRun(
  { success, message, data }: Pick<RunAttempt, 'success' | 'message' | 'data'>,
): RunDescription {
  const run = {
    text: message ?? (success ? 'done' : 'failed'), end: null, ranMs: null, output: null,
    isCutOff: false,
  };
  if (data === null) return run;
  if (isCoalesced(data)) return { ...run, text: 'coalesced: a newer request ran for it' };
  if (!isCommandData(data)) return { ...run, output: formatOutput(data) };
  const { exitCode, signal, durationMs, output, truncated = false } = data;
  return {
    ...run, end: exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`,
    ranMs: durationMs, output: formatOutput(output), isCutOff: truncated,
  };
}

function formatOutput(output: unknown): string | null {
  if (typeof output === 'string') return output === '' ? null : output;
  const json = encodeJson(output, 2);
  return json === undefined || json === '{}' ? null : json;
}

function isCoalesced(data: object): boolean {
  return 'coalesced' in data && data.coalesced === true;
}

function isCommandData(data: object): data is CommandData {
  return 'exitCode' in data && 'signal' in data
    && 'durationMs' in data && typeof data.durationMs === 'number';
}
