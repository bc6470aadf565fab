/** The actions that a process knows, by identifier: the built-in ones and custom classes. */
import { AppError } from '../../base/errors.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import { ActionResult } from './action.ts';
import type {
  Action, ActionClass, ActionContext, ActionOptions, ActionTools, Payload,
} from './action.ts';

/** One run of an action. */
export type ActionCall = {
  /** The payload, decoded when first asked for. */
  readonly payload: () => Payload;
  /** The received bytes that `payload` was decoded from; null when they were no JSON. */
  readonly bytes: () => Buffer | null;
  readonly context: ActionContext;
  readonly options: ActionOptions;
  /** How many events led to this call. */
  readonly depth: number;
  /** Where the action runs; not every action may run everywhere. */
  readonly place: 'incoming' | 'outgoing';
};

export type OptionDoc = {
  readonly name: string;
  readonly description: string;
  readonly isRequired?: boolean;
  readonly default?: JsonValue;
};

export type RegisteredAction = {
  readonly identifier: string;
  readonly label: string;
  readonly isBuiltIn: boolean;
  readonly options: readonly OptionDoc[];
  /** What is wrong with a configuration's options, one sentence a problem. */
  readonly validateOptions: (options: JsonObject) => readonly string[];
  /** Whatever the action returned or promised; not checked yet. */
  readonly run: (call: ActionCall) => unknown;
};

export interface ActionRegistry {
  find(identifier: string): RegisteredAction | undefined;
  /** In order of identifier. */
  list(): readonly RegisteredAction[];
}

/** A custom action class and where it came from, for messages. */
export type ActionSource = { readonly actionClass: unknown; readonly origin: string };

const IDENTIFIER_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const NO_PAYLOAD: Payload = Object.freeze([]);

/** Throws `usage` naming the origin of a class that is no action, or whose name is taken. */
export function createActionRegistry(options: {
  readonly builtIn: readonly RegisteredAction[];
  readonly custom: readonly ActionSource[];
  readonly tools: ActionTools;
}): ActionRegistry {
  const actions = new Map(options.builtIn.map((action) => [action.identifier, action]));
  for (const { actionClass, origin } of options.custom) {
    const action = registerClass(actionClass, origin, options.tools);
    if (actions.has(action.identifier)) {
      throw refuse(origin, `there is an action "${action.identifier}" already`);
    }
    actions.set(action.identifier, action);
  }
  const sorted = [...actions.values()].sort((left, right) =>
    left.identifier < right.identifier ? -1 : 1);
  return { find: (identifier) => actions.get(identifier), list: () => sorted };
}

function registerClass(candidate: unknown, origin: string, tools: ActionTools): RegisteredAction {
  if (!isActionClass(candidate)) {
    throw refuse(origin, 'must export a class with execute(), static identifier() and label()');
  }
  let instance: Action;
  let identifier: unknown;
  let label: unknown;
  try {
    identifier = candidate.identifier();
    label = candidate.label();
    instance = new candidate();
  } catch (cause) {
    throw refuse(origin, `could not be made: ${messageOf(cause)}`, cause);
  }
  if (typeof identifier !== 'string' || !IDENTIFIER_PATTERN.test(identifier)) {
    throw refuse(origin, 'identifier() must give 1-128 of letters, digits, ".", "_", ":" and "-"');
  }
  if (typeof label !== 'string') throw refuse(origin, 'label() must give a string');
  const execute = instance.execute;
  const isPayloadRead = canSeePayload(execute);
  return {
    identifier, label, isBuiltIn: false, options: [],
    validateOptions: (options) => validate(candidate, options, tools.log),
    run: (call) => execute.call(
      instance, isPayloadRead ? call.payload() : NO_PAYLOAD, call.context, call.options, tools),
  };
}

function isActionClass(candidate: unknown): candidate is ActionClass {
  if (typeof candidate !== 'function') return false;
  const isNamed = 'identifier' in candidate && typeof candidate.identifier === 'function'
    && 'label' in candidate && typeof candidate.label === 'function';
  const prototype: unknown = candidate.prototype;
  return isNamed && typeof prototype === 'object' && prototype !== null
    && 'execute' in prototype && typeof prototype.execute === 'function';
}

const FIRST_PARAMETER = /^(?:async\s+)?(?:function\s*)?[\w$]*\s*\(\s*([A-Za-z_$][\w$]*)?\s*[,)]/;

/**
 * Whether a function could look at its first argument. One that does not name it, or names it and
 * nowhere else mentions the name, cannot, so the payload need not be decoded for it: that is a
 * tenth of the cost of a small request. Anything unclear counts as yes.
 */
export function canSeePayload(run: Function): boolean {
  const source = Function.prototype.toString.call(run);
  if (/arguments|eval|\[native code\]|\\u/.test(source)) return true;
  const first = FIRST_PARAMETER.exec(source);
  if (first === null) return true;
  const [, name] = first;
  if (name === undefined) return run.length > 0;
  return source.split(/[^\w$]+/).filter((word) => word === name).length > 1;
}

function validate(actionClass: ActionClass, options: JsonObject, log: Logger): readonly string[] {
  if (actionClass.validateOptions === undefined) return [];
  try {
    const problems: unknown = actionClass.validateOptions(options) ?? [];
    if (Array.isArray(problems)) return problems.map(String);
    // A promise that nobody waits for would end the process if it were rejected.
    if (problems instanceof Promise) problems.catch(() => {});
    log.error('validateOptions() of an action must give an array of sentences at once');
  } catch (thrown) {
    log.error('an action could not check its options', { error: thrown });
  }
  return ['could not be checked: the action failed; see the log'];
}

/** A run's result as an ActionResult. Throws when it is none. */
export function toActionResult(outcome: unknown): ActionResult {
  if (typeof outcome !== 'object' || outcome === null || !('success' in outcome)) {
    throw new TypeError('an action must return an ActionResult or {success, message, data}');
  }
  const { success } = outcome;
  const message = 'message' in outcome ? outcome.message ?? null : null;
  const data = 'data' in outcome ? outcome.data ?? {} : {};
  const isSound = typeof success === 'boolean' && typeof data === 'object'
    && (message === null || typeof message === 'string');
  if (!isSound) {
    throw new TypeError('success must be a boolean, message a string, data an object or array');
  }
  return new ActionResult(success, message, data);
}

function refuse(origin: string, problem: string, cause?: unknown): AppError {
  return new AppError('usage', `${origin}: ${problem}`, {}, cause);
}
