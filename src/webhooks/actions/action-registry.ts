/** The registry of the actions of this process, built-in ones and custom classes. */
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
import { sendInChain } from './chained-request.ts';

/** The means by which a run of a request waits, for actions whose runs wait for one another. */
export type RunWait = {
  /** Sorts runs by when their requests came, or were last queued: see `Task.place`. */
  readonly place: string;
  /** Aborted when a waiting run must not begin any more; null: it may. */
  readonly cutOff: AbortSignal | null;
  /**
   * Must be called with true when the run begins to wait, and with false after that: meanwhile it
   * keeps nothing that runs of other webhooks need.
   */
  readonly onWaiting: (isWaiting: boolean) => void;
};

export type ActionCall = {
  payload(): Payload;
  /** The payload as JSON: the received bytes, if they are JSON in UTF-8; null without one. */
  payloadJson(): Buffer | null;
  /** The plain body; the body as it came if its Content-Encoding cannot be taken off. */
  plainBody(): Buffer;
  readonly context: ActionContext;
  /** As in `context`, which is created only when it is read. */
  readonly storedRequestId: string | null;
  /** null: an outgoing webhook runs the action for an event. */
  readonly requestOrigin: RequestOrigin | null;
  /** null: an outgoing webhook runs the action for an event; not every action is for both. */
  readonly webhookId: string | null;
  /** The time limit of the webhook; null: that of the settings. */
  readonly timeoutMs: number | null;
  readonly configurationId: string;
  readonly options: ActionOptions;
  /** null: an outgoing webhook runs the action for an event. */
  readonly wait: RunWait | null;
  /** The places of the signature, or of the secret itself, which must not be logged. */
  readonly secretSources: readonly ValueSource[];
  /** See base/webhook-chain.ts. */
  readonly hops: number;
  readonly trace: TraceContext | null;
  /** A request of the action was refused because of its number of hops. */
  isChainRefused: boolean;
  readonly log: Logger;
};

export type RegisteredAction = {
  readonly identifier: string;
  readonly label: string;
  readonly isBuiltIn: boolean;
  /** The options as forms and people see them; `validateOptions` checks them. */
  readonly options: MemberSchemas;
  /** The file of the action, which runs in another thread; null: it runs in this thread. */
  readonly module: ActionModule | null;
  /**
   * Problems of a configuration's options, one sentence each; a module promises them. A transaction
   * cannot wait, so it asks `OptionsChecks` instead.
   */
  readonly validateOptions: (options: JsonObject) => MaybePromise<readonly string[]>;
  readonly formatTarget?: (options: JsonObject) => string;
  /** The URL that the action sends to, if it sends; it is `/options/url`. */
  readonly findTargetUrl?: (options: Readonly<Record<string, unknown>>) => string | null;
  /** The action itself ends each run in time: `incoming.actionTimeout` does not hold for it. */
  readonly limitsItsTime?: boolean;
  /** The returned or promised result, not checked yet. */
  readonly run: (call: ActionCall) => unknown;
};

interface ActionModule {
  /** Without its folders. */
  readonly fileName: string;
  /** null: the module is not switched off. */
  readonly switchedOffUntilMs: number | null;
  /** Must be called when the time of a call is over, and nobody waits for its result. */
  onLate(call: ActionCall): void;
}

export type ActionRegistry = ReturnType<typeof createActionRegistry>;

/** A class or a function that makes a custom action, and its origin for messages. */
export type ActionSource = { readonly origin: string } & (
  | { readonly actionClass: unknown }
  | { readonly createAction: (http: HttpSender) => RegisteredAction });

const IDENTIFIER_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;

/** Throws `usage` with the origin for a class that is no action, or whose identifier is taken. */
export function createActionRegistry(options: {
  readonly builtIn: readonly RegisteredAction[];
  readonly custom: readonly ActionSource[];
  readonly http: HttpSender;
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
      instance, parsePlainPayload(call.payloadJson()), call.context, toDoubles(call.options),
      {
        log: call.log, http: { request: (request) => sendInChain(http, call, request) },
        ActionResult,
      }),
  };
}

/** Parsed apart: custom actions get JavaScript's numbers, and may change the payload. */
function parsePlainPayload(json: Buffer | null): Payload {
  if (json === null) return createEmptyPayload();
  return toPayload(JSON.parse(withoutByteOrderMark(json).toString())) ?? createEmptyPayload();
}

/** Throws `usage` for names that no action may have. */
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
    origin, 'must have a class with execute(), static identifier() and static label() as its '
      + 'default export');
}

export function createUnmadeError(origin: string, cause: unknown): AppError {
  return createRegistrationError(origin, `could not be made: ${messageOf(cause)}`, cause);
}

/** Self-contained, as the action worker gets its text (modules/worker-program.ts). */
export function isActionClass(candidate: unknown): candidate is ActionClass {
  if (typeof candidate !== 'function') return false;
  const isNamed = 'identifier' in candidate && typeof candidate.identifier === 'function'
    && 'label' in candidate && typeof candidate.label === 'function';
  const prototype: unknown = candidate.prototype;
  return isNamed && typeof prototype === 'object' && prototype !== null
    && 'execute' in prototype && typeof prototype.execute === 'function';
}

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

/** null: the action gave no list of problems. */
export function reportFailedCheck(log: Logger, failure: LogFields | null): readonly string[] {
  if (failure === null) {
    log.error('validateOptions() of an action must give an array of sentences at once');
  } else {
    log.error('an action could not check its options', failure);
  }
  return ['could not be checked: the action failed; see the log'];
}

/** Throws a TypeError for a result that is none. */
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
