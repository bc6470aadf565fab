/**
 * The log of a process on stderr: one JSON object a line, or pretty on a terminal. Where stderr is
 * the journal of systemd, each line begins with its priority, `<3>` to `<7>`, which the journal
 * takes off (sd-daemon(3)).
 */
import { fstatSync } from 'node:fs';
import { LOG_LEVELS, createLogger } from '../../base/log.ts';
import type { Logger, LogLevel, LogLine } from '../../base/log.ts';
import type { Settings } from '../../settings/load-settings.ts';
import type { Io } from './process-io.ts';

/** Writes lines from `log.level` up, and none below `lowest`; `onLine` gets each line as well. */
export function createProcessLogger(
  { log }: Settings, io: Io, lowest: LogLevel, onLine?: (line: LogLine) => void,
): Logger {
  const isPretty = log.format === 'pretty' || (log.format === 'auto' && io.stderr.isTTY === true);
  const configuredIndex = LOG_LEVELS.findIndex((level) => level === log.level);
  const level = LOG_LEVELS[Math.max(configuredIndex, LOG_LEVELS.indexOf(lowest))] ?? lowest;
  const isToJournal = isStderrJournal(io);
  return createLogger({
    level, format: isPretty ? 'pretty' : 'json', now: io.now,
    write: (line, lineLevel) =>
      io.stderr.write(isToJournal ? PRIORITIES[lineLevel] + line : line),
    ...onLine === undefined ? {} : { keep: onLine },
  });
}

/** The prefix of a line for the journal, by its level. */
export const PRIORITIES: Readonly<Record<LogLevel, string>> = {
  error: '<3>', warning: '<4>', info: '<6>', debug: '<7>',
};
const STDERR = 2;

export function isStderrJournal({ environment }: Io): boolean {
  const stream = environment['JOURNAL_STREAM'];
  if (stream === undefined) return false;
  // A program that our parent has started may have another stderr: systemd.exec(5).
  const { dev, ino } = fstatSync(STDERR);
  return stream === `${dev}:${ino}`;
}
