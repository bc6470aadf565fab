/** The built-in action `log`: it writes the request, redacted, to the application log. */
import { estimateParsedBytes } from '../../base/json/parsed-size.ts';
import { LOG_LEVELS, copyForLines, shorten, type Logger, type LogLevel } from '../../base/log.ts';
import { quote } from '../../base/text/error-message.ts';
import {
  hideSignatureHeaders, hideSignatureMembers, hideSignatureParameters,
} from '../senders/request/hide-signature.ts';
import { ActionResult } from './action.ts';
import { findUnknownOptions, type ActionCall, type RegisteredAction } from './action-registry.ts';

const DEFAULT_LEVEL = 'info';
/**
 * A larger payload is not parsed, as a line shows little of it: the names of an object with a
 * hundred thousand members take 15 ms by themselves.
 */
const PARSED_BYTES_MAX = 4 << 20;
/** A smaller payload is copied as fast as its copy is found. */
const SHARED_BYTES_MIN = 1024;

/** `programLog` is the logger that those of calls write to: each read makes such a logger. */
export function createLogAction(programLog: Pick<Logger, 'isWritten'>): RegisteredAction {
  const copies: PayloadCopies = new WeakMap();
  return {
    identifier: 'log',
    label: 'Write to the log',
    isBuiltIn: true,
    module: null,
    options: {
      level: {
        schema: { kind: 'string', values: LOG_LEVELS }, default: DEFAULT_LEVEL,
        description: 'How grave the line is',
      },
    },
    validateOptions({ level, ...others }) {
      const problems = findUnknownOptions(others, ['level']);
      return level === undefined || isLevel(level) ? problems
        : [`level must be one of ${LOG_LEVELS.join(', ')}, not ${quote(level)}`, ...problems];
    },
    run(call) {
      const { options } = call;
      const level = isLevel(options['level']) ? options['level'] : DEFAULT_LEVEL;
      if (programLog.isWritten?.(level) === false) return ActionResult.ok();
      const { context: { headers, query, event, eventId }, secretSources } = call;
      call.log[level]('webhook received', {
        options,
        context: {
          headers: hideSignatureHeaders(headers, secretSources),
          query: hideSignatureParameters(query, secretSources), event, eventId,
        },
        // Last, as the end of the line may be cut.
        payload: selectPayload(call, copies),
      });
      return ActionResult.ok();
    },
  };
}

/** The payload that lines show of each body in memory: all routes of a request show the same. */
type PayloadCopies = WeakMap<Buffer, unknown>;

function selectPayload(call: ActionCall, copies: PayloadCopies): unknown {
  const { secretSources } = call;
  const body = call.plainBody();
  if (body.length < SHARED_BYTES_MIN) return copyPayload(call.payload(), secretSources);
  const copy = copies.get(body)
    ?? (estimateParsedBytes(body) > PARSED_BYTES_MAX ? `<${body.length} bytes>`
      : copyForLines(copyPayload(call.payload(), secretSources)));
  copies.set(body, copy);
  return copy;
}

function copyPayload(payload: object, secretSources: ActionCall['secretSources']): unknown {
  return secretSources.length === 0 ? payload
    : hideSignatureMembers(shorten(payload), secretSources);
}

function isLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
