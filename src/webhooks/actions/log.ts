/** The built-in action `log`: writes what came to the application log, redacted by the logger. */
import { LOG_LEVELS } from '../../base/log.ts';
import type { LogLevel } from '../../base/log.ts';
import { quoted } from '../../base/text/refusal.ts';
import { hideQuerySecrets } from '../http/url-credentials.ts';
import { hideHeaders, hideMembers, hideQuery } from '../senders/request/hidden.ts';
import { ActionResult } from './action.ts';
import { unknownOptions } from './registry.ts';
import type { RegisteredAction } from './registry.ts';

const DEFAULT_LEVEL = 'info';

export function createLogAction(): RegisteredAction {
  return {
    identifier: 'log',
    label: 'Write to the log',
    isBuiltIn: true,
    options: [{
      name: 'level', description: LOG_LEVELS.join(', '), default: DEFAULT_LEVEL,
    }],
    validateOptions({ level, ...others }) {
      const problems = unknownOptions(others, ['level']);
      return level === undefined || isLevel(level) ? problems
        : [`level must be one of ${LOG_LEVELS.join(', ')}, not ${quoted(level)}`, ...problems];
    },
    run({ payload, context, options, log, secretPlaces }) {
      const level = isLevel(options['level']) ? options['level'] : DEFAULT_LEVEL;
      const { headers, query, event, eventId } = context;
      log[level]('webhook received', {
        payload: hideMembers(payload(), secretPlaces), options,
        context: {
          headers: hideHeaders(headers, secretPlaces),
          query: hideQuery(hideQuerySecrets(query), secretPlaces), event, eventId,
        },
      });
      return ActionResult.ok();
    },
  };
}

function isLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
