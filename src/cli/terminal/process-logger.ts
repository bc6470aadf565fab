/** The log of a process on stderr: one JSON object a line, or pretty on a terminal. */
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
  return createLogger({
    level, format: isPretty ? 'pretty' : 'json', now: io.now,
    write: (line) => io.stderr.write(line), ...onLine === undefined ? {} : { keep: onLine },
  });
}
