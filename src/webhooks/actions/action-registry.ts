/** The registry of the actions of this process: built-in ones and custom classes, by identifier. */
import { AppError, messageOf } from '../../base/errors.ts';
import { toDoubles } from '../../base/exact-number.ts';
import { withoutByteOrderMark } from '../../base/json/parse.ts';
import type { LogFields, Logger } from '../../base/log.ts';
import { suggestName, quote } from '../../base/text/error-message.ts';
import type { MaybePromise } from '../../base/when-done.ts';
import type { TraceContext } from '../../base/trace-context.ts';
import type { JsonObject, MemberSchemas } from '../../base/schema.ts';
import type { HttpSender } from '../members/http-sender.ts';
import type { RequestOrigin } from '../members/pass-through.ts';
import type { ValueSource } from '../senders/scheme/scheme.ts';
import { createEmptyPayload, toPayload } from './action-payload.ts';
import {
  ActionResult, type Action, type ActionClass, type ActionContext, type ActionOptions, type Payload,
} from './action.ts';
import { ChainedHttpSender } from './chained-http-sender.ts';

/** What a run of a request waits with, for actions whose runs wait for one another. */
export type RunWait = {
  /** Sorts runs by when their requests came, or last went to the queue: see `Task.place`. */
  readonly place: string;
  /** Aborted when a run that waits must not begin any more; null: it may. */
  readonly cutOff: AbortSignal | null;
  /**
   * Must be called with true when the run begins to wait, and with false when it has waited:
   * meanwhile it keeps nothing that runs of other webhooks need.
   */
  readonly onWaiting: (isWaiting: boolean) => void;
};

/** One run of an action. */
export type ActionCall = {
  /** The payload, decoded when first asked for. */
  payload(): Payload;
  /** The payload as JSON: the received bytes, if they are JSON in UTF-8; null: there is none. */
  bytes(): Buffer | null;
  /** The plain body; the body that came if its Content-Encoding cannot be taken off. */
  plainBody(): Buffer;
  readonly context: ActionContext;
  /** The same as in `context`, which is created only when it is read. */
  readonly storedRequestId: string | null;
  /** The origin of the request; null where an outgoing webhook runs the action for an event. */
  readonly requestOrigin: RequestOrigin | null;
  /**
   * The identifier of the incoming webhook; null: an outgoing one runs the action for an event, and
   * not every action is for both.
   */
  readonly webhookId: string | null;
  /** The time limit that its webhook has; null: that of the settings. */
  readonly timeoutMs: number | null;
  /** The identifier of the action configuration that is run. */
  readonly configuration: string;
  readonly options: ActionOptions;
  /** null: an outgoing webhook runs the action for an event. */
  readonly wait: RunWait | null;
  /** The places of the signature, or of the secret itself. Neither may be logged. */
  readonly secretSources: readonly ValueSource[];
  /** The number of hops that led to this call: see base/webhook-chain.ts. */
  readonly hops: number;
  /** The trace that its requests go on with; null: there is none. */
  readonly trace: TraceContext | null;
  /** Set when a request of the action was refused because of its number of hops. */
  isChainRefused: boolean;
  /** Its lines carry the id of the request, or the webhook. */
  readonly log: Logger;
};

export type RegisteredAction = {
  readonly identifier: string;
  readonly label: string;
  readonly isBuiltIn: boolean;
  /** What forms and people are told of its options; `validateOptions` checks them. */
  readonly options: MemberSchemas;
  /** The file that the action came in, which runs in another thread; null: it runs in this one. */
  readonly module: ActionModule | null;
  /**
   * Problems of a configuration's options, one sentence each; an action of a module promises them.
   * What stores options asks `OptionsChecks` instead, as a transaction cannot wait.
   */
  readonly validateOptions: (options: JsonObject) => MaybePromise<readonly string[]>;
  /** The host and path that the action sends to with these options. */
  readonly formatTarget?: (options: JsonObject) => string;
  /** The URL that the action sends to with these options, if it sends; it is `/options/url`. */
  readonly findTargetUrl?: (options: Readonly<Record<string, unknown>>) => string | null;
  /**
   * Whether the action itself ends each run in time. Then the setting `incoming.actionTimeout` does
   * not hold for it, as some of its runs wait, or have a limit of their own.
   */
  readonly limitsItsTime?: boolean;
  /** The returned or promised result, which is not checked yet. */
  readonly run: (call: ActionCall) => unknown;
};

/** The module of an action, as people and `runAction` see it. */
interface ActionModule {
  /** The name of the file, without its folders. */
  readonly fileName: string;
  /** The time until which the module is switched off; null: it is not. */
  readonly switchedOffUntilMs: number | null;
  /** Told that the time of a call is over, and nobody waits for its result any more. */
  onLate(call: ActionCall): void;
}

export type ActionRegistry = ReturnType<typeof createActionRegistry>;

/** A custom action and its origin, for messages: a class, or what makes the action of a module. */
export type ActionSource = { readonly origin: string } & (
  | { readonly actionClass: unknown }
  | { readonly createAction: (http: HttpSender) => RegisteredAction });

const IDENTIFIER_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/**
 * Throws `usage`, naming the origin, for a class that is no action, or whose identifier is taken.
 */
export function createActionRegistry(options: {
  readonly builtIn: readonly RegisteredAction[];
  readonly custom: readonly ActionSource[];
  readonly http: HttpSender;
  /** The log for faults of an action itself. */
  readonly log: Logger;
}) {
  const actions = new Map(options.builtIn.map((action) => [action.identifier, action]));
  for (const source of options.custom) {
    const { origin } = source;
    const action = 'createAction' in source ? source.createAction(options.http)
      : registerClass(source.actionClass, origin, options);
    if (actions.has(action.identifier)) {
      throw createRegistrationError(origin, `there is an action "${action.identifier}" already`);
    }
    actions.set(action.identifier, action);
  }
  const sortedActions = [...actions.values()].sort((left, right) =>
    left.identifier < right.identifier ? -1 : 1);
  return {
    find: (identifier: string): RegisteredAction | undefined => actions.get(identifier),
    /** In order of identifier. */
    list: (): readonly RegisteredAction[] => sortedActions,
  };
}

function registerClass(
  candidate: unknown, origin: string,
  { http, log }: { readonly http: HttpSender; readonly log: Logger },
): RegisteredAction {
  if (!isActionClass(candidate)) throw createNoActionError(origin);
  let instance: Action;
  let identifier: unknown;
  let label: unknown;
  try {
    identifier = candidate.identifier();
    label = candidate.label();
    instance = new candidate();
  } catch (cause) {
    throw createUnmadeError(origin, cause);
  }
  const execute = instance.execute;
  return {
    ...checkNames(origin, identifier, label), isBuiltIn: false, options: {}, module: null,
    validateOptions: (options) => validateOptions(candidate, toDoubles(options), log),
    run: (call) => execute.call(
      instance, parsePlainPayload(call.bytes()), call.context, toDoubles(call.options),
      { log: call.log, http: new ChainedHttpSender(http, call), ActionResult }),
  };
}

/** Parsed apart: an action of one's own gets numbers as JavaScript has them, and may change it. */
function parsePlainPayload(json: Buffer | null): Payload {
  if (json === null) return createEmptyPayload();
  return toPayload(JSON.parse(withoutByteOrderMark(json).toString())) ?? createEmptyPayload();
}

/** Throws `usage` for names that an action may not have. */
export function checkNames(
  origin: string, identifier: unknown, label: unknown,
): Pick<RegisteredAction, 'identifier' | 'label'> {
  if (typeof identifier !== 'string' || !IDENTIFIER_PATTERN.test(identifier)) {
    throw createRegistrationError(
      origin, 'identifier() must give 1-128 of letters, digits, ".", "_", ":" and "-"');
  }
  if (typeof label !== 'string') {
    throw createRegistrationError(origin, 'label() must give a string');
  }
  return { identifier, label };
}

export function createNoActionError(origin: string): AppError {
  return createRegistrationError(
    origin, 'must export a class with execute(), static identifier() and label()');
}

export function createUnmadeError(origin: string, cause: unknown): AppError {
  return createRegistrationError(origin, `could not be made: ${messageOf(cause)}`, cause);
}

/** Self-contained, as the action worker has its text (modules/worker-program.ts). */
export function isActionClass(candidate: unknown): candidate is ActionClass {
  if (typeof candidate !== 'function') return false;
  const isNamed = 'identifier' in candidate && typeof candidate.identifier === 'function'
    && 'label' in candidate && typeof candidate.label === 'function';
  const prototype: unknown = candidate.prototype;
  return isNamed && typeof prototype === 'object' && prototype !== null
    && 'execute' in prototype && typeof prototype.execute === 'function';
}

/** A sentence for each unknown option. */
export function findUnknownOptions(options: JsonObject, knownNames: readonly string[]): string[] {
  return Object.keys(options).filter((name) => !knownNames.includes(name))
    .map((name) => `${quote(name)} is not a known option${suggestName(name, knownNames)}`);
}

function validateOptions(
  actionClass: ActionClass, options: JsonObject, log: Logger,
): readonly string[] {
  if (actionClass.validateOptions === undefined) return [];
  try {
    const problems: unknown = actionClass.validateOptions(options) ?? [];
    if (Array.isArray(problems)) return problems.map(String);
    // A rejected promise that nobody waits for would end the process.
    Promise.resolve(problems).catch(() => {});
    return reportFailedCheck(log, null);
  } catch (thrown) {
    return reportFailedCheck(log, { error: thrown });
  }
}

/** The problem of options that an action could not check. null: it gave no list of problems. */
export function reportFailedCheck(log: Logger, failure: LogFields | null): readonly string[] {
  if (failure === null) {
    log.error('validateOptions() of an action must give an array of sentences at once');
  } else {
    log.error('an action could not check its options', failure);
  }
  return ['could not be checked: the action failed; see the log'];
}

/** The result of a run as an ActionResult. Throws a TypeError if it is none. */
export function toActionResult(outcome: unknown): ActionResult {
  if (typeof outcome !== 'object' || outcome === null || !('success' in outcome)) {
    throw new TypeError('an action must return an ActionResult or {success, message, data}');
  }
  const { success } = outcome;
  const message = 'message' in outcome ? outcome.message ?? null : null;
  const data = 'data' in outcome ? outcome.data ?? {} : {};
  const isValid = typeof success === 'boolean' && typeof data === 'object'
    && (message === null || typeof message === 'string');
  if (isValid) return new ActionResult(success, message, data);
  throw new TypeError('success must be a boolean, message a string, data an object or array');
}

function createRegistrationError(origin: string, problem: string, cause?: unknown): AppError {
  return new AppError('usage', `${origin}: ${problem}`, {}, cause);
}
