/** A value as a log line shows it. */
import { redacting, silentLogger } from '../../src/base/log.ts';

export function redact(value: unknown): unknown {
  let shown: unknown;
  const logger = { ...silentLogger, info: (_: string, fields?: object): void => {
    shown = Object(fields).value;
  } };
  redacting(logger).info('', { value });
  return shown;
}
