/** A value as a log line shows it. */
import { createRedactingLogger, silentLogger } from '../../src/base/log.ts';

export function redact(value: unknown): unknown {
  let shown: unknown;
  const logger = { ...silentLogger, info: (_: string, fields?: object): void => {
    shown = Object(fields).value;
  } };
  createRedactingLogger(logger).info('', { value });
  return shown;
}
