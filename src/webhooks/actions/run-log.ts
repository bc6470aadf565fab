/**
 * Logs a run of an incoming webhook's action: at `debug` if it succeeded, and at `warning` if it
 * failed, whether a sender waited for it or its request was stored.
 */
import type { LogFields, Logger } from '../../base/log.ts';
import type { ConfiguredActions } from './run-action.ts';

type LoggedRun = {
  readonly labels: LogFields;
  /** undefined: the webhook has no such route any more. */
  readonly actionConfiguration: string | undefined;
  readonly success: boolean;
  /** Its chain was refused, which is logged elsewhere. */
  readonly isChainRefused: boolean;
  readonly message: string | null;
  readonly data: object | null;
  readonly durationMs: number;
};

/** `kind` is the message. */
export function logRun(
  { configurations, actions }: Omit<ConfiguredActions, 'runner'>,
  log: Logger, kind: string, run: LoggedRun,
): void {
  const { labels, actionConfiguration, success, isChainRefused, message, data, durationMs } = run;
  const fields = {
    ...labels, action: actionConfiguration ?? null, durationMs: Math.round(durationMs),
    result: message,
  };
  // Most runs succeed while `debug` is off: the target is looked up after this.
  if (success || isChainRefused) return log.debug(kind, fields);
  const configuration = actionConfiguration === undefined
    ? undefined : configurations.find(actionConfiguration);
  const action = configuration === undefined ? undefined : actions.find(configuration.actionType);
  log.warning(kind, {
    ...fields,
    ...action?.formatTarget === undefined || configuration === undefined
      ? {} : { target: action.formatTarget(configuration.options) },
    ...data !== null && 'statusCode' in data ? { statusCode: data.statusCode } : {},
  });
}
