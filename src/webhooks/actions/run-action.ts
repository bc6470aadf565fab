/** Runs an action in its time, and logs its run. Its errors become failed results. */
import { AppError, isTemporary } from '../../base/errors.ts';
import { endsInTime, type Clock } from '../../base/clock.ts';
import { isEmptyObject, encodeJson } from '../../base/json/encode.ts';
import { ProgramReplacedError } from '../../base/lazy-import.ts';
import type { Logger, LogFields } from '../../base/log.ts';
import type { RateLimitedLog } from '../../base/rate-limited-log.ts';
import { ActionResult } from './action.ts';
import {
  toActionResult, type ActionCall, type ActionRegistry, type RegisteredAction,
} from './action-registry.ts';
import type { ConfigurationIndex } from './configuration-index.ts';

export type ActionRunner = {
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Logs refused chains of webhooks. Any caller can send a header that causes a line. */
  readonly chainRefusalLog: RateLimitedLog;
};

export type ConfiguredActions = {
  readonly configurations: ConfigurationIndex;
  readonly actions: ActionRegistry;
  readonly runner: ActionRunner;
};

/** The result of a run whose chain was refused, here or further on, where that is logged. */
export class ChainRefusal extends ActionResult {}
/** The result of a run that never began, as a newer run counts for it: the route is coalesced. */
export class CoalescedResult extends ActionResult {
  constructor() {
    super(true, 'Coalesced', { coalesced: true });
  }
}

/** The record and the log tell more of this result than the caller, who may be anybody. */
export class DetailedRunResult extends ActionResult {
  readonly recordMessage: string | null;
  /** Replaces `data` in the record; null: `data` stands there. */
  readonly recordData: object | null;

  constructor(success: boolean, message: string | null, data: object, details: {
    readonly recordMessage?: string | null; readonly recordData?: object;
  }) {
    super(success, message, data);
    this.recordMessage = details.recordMessage ?? message;
    this.recordData = details.recordData ?? null;
  }
}

export function getRecordMessage(result: ActionResult): string | null {
  return result instanceof DetailedRunResult ? result.recordMessage : result.message;
}

/** The result when this server refused: the request came with too many hops. */
export class OwnChainRefusal extends ChainRefusal {}

export const FAILED_MESSAGE = 'Action failed';
const TIMEOUT_MESSAGE = 'Action timed out';

/**
 * Returns the result at once when the action does. The caller may be anybody: of a failure it
 * learns the message of a built-in action's `invalid` and of a refused chain; other details are in
 * the log alone. Throws, or rejects with, only errors about our own state: of a built-in action
 * `unavailable`, `unknown_outcome` and `storage_full`, of any `SwitchedOffError` and
 * `ProgramReplacedError`.
 */
export function runAction(
  action: RegisteredAction, call: ActionCall, runner: ActionRunner,
): ActionResult | Promise<ActionResult> {
  try {
    const outcome = action.run(call);
    return isThenable(outcome)
      ? awaitOutcome(action, outcome, call, runner) : toResult(outcome);
  } catch (thrown) {
    return toFailedResult(action, thrown, call, runner);
  }
}

async function awaitOutcome(
  action: RegisteredAction, outcome: PromiseLike<unknown>, call: ActionCall, runner: ActionRunner,
): Promise<ActionResult> {
  const timeoutMs = action.limitsItsTime === true ? null : call.timeoutMs ?? runner.timeoutMs;
  const result = Promise.resolve(outcome).then(toResult);
  try {
    if (timeoutMs === null || await endsInTime(runner.clock, timeoutMs, result)) {
      return markChainRefusal(await result, call);
    }
  } catch (thrown) {
    return markChainRefusal(toFailedResult(action, thrown, call, runner), call);
  }
  call.log.warning('an action did not end in time', { action: action.identifier, timeoutMs });
  action.module?.onLate(call);
  return markChainRefusal(ActionResult.fail(TIMEOUT_MESSAGE), call);
}

/** Keeps what a built-in action says beside its result. */
function toResult(outcome: unknown): ActionResult {
  return outcome instanceof CoalescedResult || outcome instanceof DetailedRunResult
    ? outcome : toActionResult(outcome);
}

/** The result tells that a request of its run was refused, however the run ended. */
function markChainRefusal(result: ActionResult, { isChainRefused }: ActionCall): ActionResult {
  if (!isChainRefused || result instanceof ChainRefusal) return result;
  return new ChainRefusal(result.success, result.message, result.data);
}

function toFailedResult(
  action: RegisteredAction, thrown: unknown, call: ActionCall, { chainRefusalLog }: ActionRunner,
): ActionResult {
  if (thrown instanceof AppError && thrown.details.chainHops !== undefined) {
    const { chainHops: hops, chainTarget: target } = thrown.details;
    const { path } = call.context;
    chainRefusalLog.warning(
      call, thrown.message, { path, action: action.identifier, target, hops });
    return new OwnChainRefusal(false, thrown.message, {});
  }
  // An error about our own state: the run may succeed later.
  if (action.isBuiltIn && isTemporary(thrown)) throw thrown;
  if (thrown instanceof SwitchedOffError || thrown instanceof ProgramReplacedError) throw thrown;
  if (action.isBuiltIn && thrown instanceof AppError && thrown.code === 'invalid') {
    return ActionResult.fail(thrown.message);
  }
  const fields = { action: action.identifier, error: thrown };
  // The hop that refused the chain has logged it.
  if (call.isChainRefused) call.log.debug('an action failed', fields);
  else call.log.error('an action failed', fields);
  return ActionResult.fail(FAILED_MESSAGE);
}

/**
 * The data as JSON text; null: it is no object or array in JSON. The log of `source` is read only
 * for a line: a log for each request costs.
 */
export function encodeData(data: object, source: { readonly log: Logger }): string | null {
  try {
    if (isEmptyObject(data)) return '{}';
    const text: string | undefined = encodeJson(data);
    if (text?.startsWith('{') === true || text?.startsWith('[') === true) return text;
    source.log.error('an action gave data that is neither object nor array as JSON');
  } catch (thrown) {
    source.log.error('an action gave data that cannot be JSON', { error: thrown });
  }
  return null;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value
    && typeof value.then === 'function';
}

/**
 * Thrown for a run, or a check of options, of an action whose module is switched off for a while
 * (modules/action-modules.ts). A caller is answered 503; a stored request waits without an attempt.
 */
export class SwitchedOffError extends AppError {
  readonly remainingMs: number;

  constructor(remainingMs: number) {
    super('unavailable', 'The action is switched off',
      { retryAfterS: Math.max(1, Math.ceil(remainingMs / 1000)) });
    this.remainingMs = remainingMs;
  }
}

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

/**
 * Logs a run of an incoming webhook's action, whether a sender waits for it or its request is
 * stored: a success at `debug`, a failure at `warning`. `kind` is the message.
 */
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
