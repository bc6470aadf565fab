/**
 * The result of a command run. The caller may be anybody: it learns the exit code alone, unless the
 * configuration shows the output. The end of the output is always on record: of standard output 4
 * KiB, and the last line of standard error, which the log has as well.
 */
import { AppError } from '../../../base/errors.ts';
import { parseJson } from '../../../base/json/parse.ts';
import { redactText } from '../../../base/log.ts';
import type { JsonValue } from '../../../base/schema.ts';
import { escapeControls } from '../../../base/text/printable.ts';
import { ActionResult } from '../action.ts';
import { DetailedRunResult } from '../run-action.ts';
import type { HookCommand } from './command-options.ts';
import type { HookCommandEnd } from './command-runner.ts';

const ERROR_LINE_LENGTH_MAX = 200;

/**
 * `timeoutMs` is the limit of the run. Throws `unavailable` where a stopping server ended the
 * command: that says nothing about it.
 */
export function toCommandResult(
  end: HookCommandEnd, { successCodes, showsOutput, parsesOutput }: HookCommand, timeoutMs: number,
): ActionResult {
  if (end.isStopped) {
    throw new AppError('unavailable', 'The command was ended, as the service is stopping');
  }
  const { exitCode, signal, durationMs, isTruncated } = end;
  const head = { exitCode, signal, durationMs: Math.round(durationMs) };
  const isSuccess = !end.isTimedOut && exitCode !== null && successCodes.includes(exitCode);
  const message = isSuccess ? null : `The command failed (${describeEnd(end, timeoutMs)})`;
  const errorLine = isSuccess ? '' : findLastLine(end.errorTail);
  const outputTail = redactText(end.outputTail.toString('utf8'));
  const recordData = outputTail === '' ? head : { ...head, output: outputTail };
  if (!showsOutput) {
    return new DetailedRunResult(isSuccess, message, head, {
      recordMessage: errorLine === '' ? null : `${message}: ${errorLine}`, recordData,
    });
  }
  const text = end.output.toString('utf8');
  const data = {
    ...head, output: parsesOutput && !isTruncated ? parseOutput(text) : text,
    ...isTruncated ? { truncated: true } : {},
  };
  const shownMessage = errorLine === '' ? message : `${message}: ${errorLine}`;
  return new DetailedRunResult(isSuccess, shownMessage, data, { recordData });
}

function describeEnd({ exitCode, signal, isTimedOut }: HookCommandEnd, timeoutMs: number): string {
  if (isTimedOut) return `not done within ${timeoutMs / 1000} s`;
  return exitCode === null ? `signal ${signal ?? 'unknown'}` : `exit ${exitCode}`;
}

/** The last line that is not empty, fit for a terminal; '' without one. */
function findLastLine(errorTail: Buffer): string {
  const lines = errorTail.toString('utf8').split(/[\r\n]+/).map((line) => line.trim());
  const line = escapeControls(redactText(lines.findLast((each) => each !== '') ?? ''));
  if (line.length <= ERROR_LINE_LENGTH_MAX) return line;
  return `${line.slice(0, ERROR_LINE_LENGTH_MAX - 1).toWellFormed()}…`;
}

/** Output in JSON becomes its value, other output stays text. */
function parseOutput(text: string): JsonValue {
  try {
    return parseJson(Buffer.from(text)) as JsonValue;
  } catch {
    return text;
  }
}
