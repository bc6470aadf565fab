/** The built-in action `log`: writes what came to the application log, redacted by the logger. */
import { LOG_LEVELS, isSecretName } from '../../base/log.ts';
import type { Logger, LogLevel } from '../../base/log.ts';
import { ActionResult } from './action.ts';
import type { RegisteredAction } from './registry.ts';

const DEFAULT_LEVEL = 'info';

export function createLogAction(log: Logger): RegisteredAction {
  return {
    identifier: 'log',
    label: 'Write to the log',
    isBuiltIn: true,
    options: [{
      name: 'level', description: LOG_LEVELS.join(', '), default: DEFAULT_LEVEL,
    }],
    validateOptions: ({ level }) => level === undefined || isLevel(level)
      ? [] : [`level must be one of ${LOG_LEVELS.join(', ')}`],
    run({ payload, context, options }) {
      const level = isLevel(options['level']) ? options['level'] : DEFAULT_LEVEL;
      const { headers, query } = context;
      log[level]('webhook received', {
        payload: payload(), context: { headers, query: redactQuery(query) }, options,
      });
      return ActionResult.ok();
    },
  };
}

function isLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}

/** The query with the values of secret-like parameters replaced; the logger knows members only. */
export function redactQuery(query: string): string {
  return query.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    return equals > 0 && isSecretName(decodeName(pair.slice(0, equals)))
      ? `${pair.slice(0, equals)}=***` : pair;
  }).join('&');
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
