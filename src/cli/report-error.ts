/**
 * Turns an error into one line on stderr and an exit code; no other file chooses exit codes. The
 * code of an error that a server answered was restored from the `type` of its problem document.
 */
import { AppError, isError, systemCodeOf } from '../base/errors.ts';
import { explainFileError } from '../base/file-error.ts';
import { redactUrls } from '../base/log.ts';
import { sourceStack } from '../base/source-stack.ts';
import { escapeControls, escapeLines } from '../base/text/printable.ts';
import { EXIT_FAILED, EXIT_USAGE } from './process/exit-code.ts';
import { createPaint } from './terminal/colour.ts';
import type { Io } from './terminal/process-io.ts';

/** Returns the exit code. */
export function reportError(thrown: unknown, isDebug: boolean, io: Io): number {
  // An error of the system (EACCES, ENOSPC, …) is no bug: its message says what is wrong.
  const isSystem = systemCodeOf(thrown) !== undefined && 'syscall' in Object(thrown);
  const isExpected = thrown instanceof AppError ? thrown.code !== 'internal' : isSystem;
  const hint = isExpected || isDebug ? '' : '; run it again with --debug to see where';
  const lines = redactUrls(explainFileError(thrown)).split('\n').map((line) => line.trim());
  const text = lines.filter((line) => line !== '').join(' ');
  const name = createPaint(io.stderr, io)('hookshelf:', 'bad');
  io.stderr.write(`${name} ${escapeControls(text)}${hint}\n`);
  if (isDebug && isError(thrown)) io.stderr.write(`${escapeLines(formatStack(thrown))}\n`);
  return thrown instanceof AppError && thrown.code === 'usage' ? EXIT_USAGE : EXIT_FAILED;
}

function formatStack(error: Error): string {
  const { cause } = error;
  const below = isError(cause) ? `\ncaused by ${formatStack(cause)}` : '';
  return redactUrls(sourceStack(error.stack ?? error.message)) + below;
}
