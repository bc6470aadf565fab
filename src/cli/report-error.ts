/**
 * Turns an error into one line on stderr and an exit code; no other file chooses exit codes. The
 * code of an error that a server answered was restored from the `type` of its problem document.
 */
import { AppError, isError, systemCodeOf } from '../base/errors.ts';
import type { ErrorCode } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import { redactUrls } from '../base/log.ts';
import { sourceStack } from '../base/source-stack.ts';
import { escapeControls, escapeLines } from '../base/text/printable.ts';
import { EXIT_DAMAGED, EXIT_FAILED, EXIT_USAGE } from './process/exit-code.ts';
import { createPaint } from './terminal/colour.ts';
import type { Io } from './terminal/process-io.ts';
import { PRIORITIES, isStderrJournal } from './terminal/process-logger.ts';

/** Exit codes by the codes of errors; after any other error it is `EXIT_FAILED`. */
type ExitCodes = Partial<Record<ErrorCode, number>>;

const EXIT_CODES: ExitCodes = { usage: EXIT_USAGE };
/**
 * The exit codes of a server that does not start. An error with a code of its own comes again at
 * each start: a supervisor need not try. `invalid` and `malformed` are about the file of `--apply`.
 */
export const START_EXIT_CODES: ExitCodes = {
  ...EXIT_CODES, invalid: EXIT_USAGE, malformed: EXIT_USAGE, damaged: EXIT_DAMAGED,
};

/** Returns the exit code. */
export function reportError(
  thrown: unknown, isDebug: boolean, io: Io, exitCodes: ExitCodes = EXIT_CODES,
): number {
  // An error of the system (EACCES, ENOSPC, …) is no bug: its message says what is wrong.
  const isSystem = systemCodeOf(thrown) !== undefined && 'syscall' in Object(thrown);
  const isExpected = thrown instanceof AppError ? thrown.code !== 'internal' : isSystem;
  const hint = isExpected || isDebug ? '' : '; run it again with --debug to see where';
  const lines = redactUrls(explainFileError(thrown)).split('\n').map((line) => line.trim());
  const text = lines.filter((line) => line !== '').join(' ');
  const name = createPaint(io.stderr, io)('hookshelf:', 'bad');
  const priority = isStderrJournal(io) ? PRIORITIES.error : '';
  io.stderr.write(`${priority}${name} ${escapeControls(text)}${hint}\n`);
  if (isDebug && isError(thrown)) io.stderr.write(`${escapeLines(formatStack(thrown))}\n`);
  return (thrown instanceof AppError ? exitCodes[thrown.code] : undefined) ?? EXIT_FAILED;
}

function formatStack(error: Error): string {
  const { cause } = error;
  const below = isError(cause) ? `\ncaused by ${formatStack(cause)}` : '';
  return redactUrls(sourceStack(error.stack ?? error.message)) + below;
}
