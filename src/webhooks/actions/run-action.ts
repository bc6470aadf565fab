/** Runs an action within its time limit. An error of the action becomes a failed result. */
import { AppError, isTemporary } from '../../base/errors.ts';
import { endsInTime, type Clock } from '../../base/clock.ts';
import { isEmptyObject, encodeJson } from '../../base/json/encode.ts';
import type { Logger } from '../../base/log.ts';
import type { RateLimitedLog } from '../../base/rate-limited-log.ts';
import { ActionResult } from './action.ts';
import { toActionResult } from './action-registry.ts';
import type { ConfigurationIndex } from './configuration-index.ts';
import { SwitchedOffError } from './switched-off-error.ts';
import type { ActionCall, ActionRegistry, RegisteredAction } from './action-registry.ts';

export type ActionRunner = {
  /** For a call that has no time limit of its own. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /**
   * Logs chains of webhooks that were refused in an action. Any caller can send a header that
   * causes it.
   */
  readonly chainRefusalLog: RateLimitedLog;
};

/** The actions, by the configurations that name them, and what runs them. */
export type ConfiguredActions = {
  readonly configurations: ConfigurationIndex;
  readonly actions: ActionRegistry;
  readonly runner: ActionRunner;
};

/** The result of a run whose chain was refused, here or further on. It is logged there alone. */
export class ChainRefusal extends ActionResult {}
/** The result of a run that never began, as a newer one does for it: the route is coalesced. */
export class CoalescedResult extends ActionResult {
  constructor() {
    super(true, 'Coalesced', { coalesced: true });
  }
}

/**
 * The result of a built-in action of which the record and the log tell otherwise than the caller,
 * who may be anybody, is told.
 */
export class DetailedRunResult extends ActionResult {
  /** The message on record and in the log. */
  readonly recordMessage: string | null;
  /** Stands in the record in place of `data`; null: `data` does. */
  readonly recordData: object | null;

  constructor(success: boolean, message: string | null, data: object, details: {
    readonly recordMessage?: string | null; readonly recordData?: object;
  }) {
    super(success, message, data);
    this.recordMessage = details.recordMessage ?? message;
    this.recordData = details.recordData ?? null;
  }
}

/** The message of a result on record and in the log. */
export function recordMessageOf(result: ActionResult): string | null {
  return result instanceof DetailedRunResult ? result.recordMessage : result.message;
}

/** The result where this server refused: the request that came here had too many hops already. */
export class OwnChainRefusal extends ChainRefusal {}

export const FAILED_MESSAGE = 'Action failed';
const TIMEOUT_MESSAGE = 'Action timed out';

/**
 * The result, at once when the action gave it at once. The caller may be anybody: of a failure it
 * learns the message of a built-in action's `invalid` and of a refused chain; other details are in
 * the log alone. Throws, or rejects with, only errors of a built-in action about our own state:
 * `unavailable`, `unknown_outcome`, `storage_full`, and `SwitchedOffError` of a module.
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

/** The result of a run, checked. What a built-in action says beside it is not lost. */
function toResult(outcome: unknown): ActionResult {
  return outcome instanceof CoalescedResult || outcome instanceof DetailedRunResult
    ? outcome : toActionResult(outcome);
}

/** The result says so if a request of its run was refused, however the run ended after that. */
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
  // An error about our own state: the same run may succeed later.
  if (action.isBuiltIn && isTemporary(thrown)) throw thrown;
  if (thrown instanceof SwitchedOffError) throw thrown;
  if (action.isBuiltIn && thrown instanceof AppError && thrown.code === 'invalid') {
    return ActionResult.fail(thrown.message);
  }
  const fields = { action: action.identifier, error: thrown };
  // The hop that refused the chain has logged it: one line is enough for all.
  if (call.isChainRefused) call.log.debug('an action failed', fields);
  else call.log.error('an action failed', fields);
  return ActionResult.fail(FAILED_MESSAGE);
}

/**
 * The data as JSON text; null: it cannot be JSON, or is then neither object nor array. The log of
 * `source` is read only when there is something to log: one for each request costs.
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
