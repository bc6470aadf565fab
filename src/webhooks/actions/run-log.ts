/**
 * What the log says of a run of an incoming webhook's action: a line at `debug` when it succeeded,
 * and at `warning` when it failed, whether a sender waited for it or its request was stored.
 */
import { createTaggedLogger, type LogFields, type Logger } from '../../base/log.ts';
import type { ConfigurationIndex } from './configuration-index.ts';
import type { ActionRegistry } from './action-registry.ts';
import type { LogHolder } from './run-action.ts';

/** A run that has ended. */
type FinishedRun = {
  /** Whose it was. */
  readonly labels: LogFields;
  /** The route's; undefined when the webhook has no such route. */
  readonly actionConfiguration: string | undefined;
  readonly success: boolean;
  /** It failed because its chain was refused: that was logged where it ended. */
  readonly isChainRefused: boolean;
  readonly message: string | null;
  readonly data: object | null;
  readonly durationMs: number;
};

export function logRun(
  { configurations, actions, log }: {
    readonly configurations: ConfigurationIndex; readonly actions: ActionRegistry;
    readonly log: Logger;
  }, kind: string, run: FinishedRun,
): void {
  const { labels, actionConfiguration, success, isChainRefused, message, data, durationMs } = run;
  const fields = {
    ...labels, action: actionConfiguration ?? null, durationMs: Math.round(durationMs),
    result: message,
  };
  // Most runs succeed, and their line is mostly not written: what follows is for the others.
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

/** A logger whose lines carry labels. It is made when there is something to say. */
export class LabelledLog implements LogHolder {
  readonly #holder: LogHolder;
  readonly #labels: LogFields;

  constructor(holder: LogHolder, labels: LogFields) {
    this.#holder = holder;
    this.#labels = labels;
  }

  get log(): Logger {
    return createTaggedLogger(this.#holder.log, this.#labels);
  }
}
