/** The actions that a process knows, by identifier: the built-in ones and custom classes. */
import { CHAIN_HEADER, isChainRefused, nextHop, addChainHeader } from '../../base/webhook-chain.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { LogFields, Logger } from '../../base/log.ts';
import { hintFor, quoted } from '../../base/text/refusal.ts';
import type { JsonObject, JsonValue } from '../../base/schema.ts';
import type { HttpRequest } from '../../client/http-client.ts';
import type { TargetResponse, HttpSender } from '../http/http-sender.ts';
import type { RequestOrigin } from '../http/pass-through.ts';
import type { ValueSource } from '../senders/scheme/scheme.ts';
import { formatTargetLabel } from '../webhook-label.ts';
import { ActionResult } from './action.ts';
import type {
  Action, ActionClass, ActionContext, ActionOptions, Payload,
} from './action.ts';

/** One run of an action. */
export type ActionCall = {
  /** The payload, decoded when first asked for. */
  readonly payload: () => Payload;
  /** The payload as JSON text, the received bytes where they are that; null when there is none. */
  readonly bytes: () => Buffer | null;
  readonly context: ActionContext;
  /** As in `context`, which is made when it is asked for. */
  readonly requestId: string | null;
  /** Where the request came from; null where there is none. */
  readonly origin: RequestOrigin | null;
  readonly options: ActionOptions;
  /** Where the request has its signature, or the secret itself: neither is for a log. */
  readonly secretSources: readonly ValueSource[];
  /** How many hops of a chain led to this call: see base/webhook-chain.ts. */
  readonly hops: number;
  /** Set when something that the action sent was refused because of its chain. */
  isChainRefused: boolean;
  /** Its lines carry what they belong to: the request's id, or the webhook. */
  readonly log: Logger;
  /** Where the action runs; not every action may run everywhere. */
  readonly direction: 'incoming' | 'outgoing';
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
  /** Host and path that the options have it send to. */
  readonly formatTarget?: (options: JsonObject) => string;
  /** The URL among the options that it sends to, if it does; it is `/options/url`. */
  readonly findTargetUrl?: (options: Readonly<Record<string, unknown>>) => string | null;
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

/** Throws `usage` naming the origin of a class that is no action, or whose name is taken. */
export function createActionRegistry(options: {
  readonly builtIn: readonly RegisteredAction[];
  readonly custom: readonly ActionSource[];
  readonly http: HttpSender;
  /** For what is wrong with an action itself. */
  readonly log: Logger;
}): ActionRegistry {
  const actions = new Map(options.builtIn.map((action) => [action.identifier, action]));
  for (const { actionClass, origin } of options.custom) {
    const action = registerClass(actionClass, origin, options);
    if (actions.has(action.identifier)) {
      throw createRegistrationError(origin, `there is an action "${action.identifier}" already`);
    }
    actions.set(action.identifier, action);
  }
  const sorted = [...actions.values()].sort((left, right) =>
    left.identifier < right.identifier ? -1 : 1);
  return { find: (identifier) => actions.get(identifier), list: () => sorted };
}

function registerClass(
  candidate: unknown, origin: string,
  { http, log }: { readonly http: HttpSender; readonly log: Logger },
): RegisteredAction {
  if (!isActionClass(candidate)) {
    throw createRegistrationError(
      origin, 'must export a class with execute(), static identifier() and label()');
  }
  let instance: Action;
  let identifier: unknown;
  let label: unknown;
  try {
    identifier = candidate.identifier();
    label = candidate.label();
    instance = new candidate();
  } catch (cause) {
    throw createRegistrationError(origin, `could not be made: ${messageOf(cause)}`, cause);
  }
  if (typeof identifier !== 'string' || !IDENTIFIER_PATTERN.test(identifier)) {
    throw createRegistrationError(
      origin, 'identifier() must give 1-128 of letters, digits, ".", "_", ":" and "-"');
  }
  if (typeof label !== 'string') {
    throw createRegistrationError(origin, 'label() must give a string');
  }
  const execute = instance.execute;
  return {
    identifier, label, isBuiltIn: false, options: [],
    validateOptions: (options) => validateOptions(candidate, options, log),
    run: (call) => execute.call(
      instance, call.payload(), call.context, call.options,
      { log: new CallLogger(call), http: new ChainedHttpSender(http, call), ActionResult }),
  };
}

/**
 * The log as one run of an action has it: its lines say whose they are. Made for each run, so it is
 * one small object; a logger of its own is made when there is something to say.
 */
class CallLogger implements Logger {
  readonly #call: ActionCall;

  constructor(call: ActionCall) {
    this.#call = call;
  }

  debug(message: string, fields?: LogFields): void {
    this.#call.log.debug(message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#call.log.info(message, fields);
  }

  warning(message: string, fields?: LogFields): void {
    this.#call.log.warning(message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#call.log.error(message, fields);
  }
}

/** The shared client as one run of an action has it: its requests go on with the chain. */
class ChainedHttpSender implements HttpSender {
  readonly #http: HttpSender;
  readonly #call: ActionCall;

  constructor(http: HttpSender, call: ActionCall) {
    this.#http = http;
    this.#call = call;
  }

  async request(request: HttpRequest): Promise<TargetResponse> {
    const others = Object.entries(request.headers ?? {})
      .filter(([name]) => name.toLowerCase() !== CHAIN_HEADER);
    const hops = nextHop(this.#call.hops, () => formatTargetLabel(request.url));
    const headers = addChainHeader(Object.fromEntries(others), hops);
    const response = await this.#http.request({ ...request, headers });
    if (isChainRefused(response.headers)) this.#call.isChainRefused = true;
    return response;
  }
}

function isActionClass(candidate: unknown): candidate is ActionClass {
  if (typeof candidate !== 'function') return false;
  const isNamed = 'identifier' in candidate && typeof candidate.identifier === 'function'
    && 'label' in candidate && typeof candidate.label === 'function';
  const prototype: unknown = candidate.prototype;
  return isNamed && typeof prototype === 'object' && prototype !== null
    && 'execute' in prototype && typeof prototype.execute === 'function';
}

/** A sentence for each of the options that an action does not know. */
export function findUnknownOptions(options: JsonObject, knownNames: readonly string[]): string[] {
  return Object.keys(options).filter((name) => !knownNames.includes(name))
    .map((name) => `${quoted(name)} is not a known option${hintFor(name, knownNames)}`);
}

function validateOptions(
  actionClass: ActionClass, options: JsonObject, log: Logger,
): readonly string[] {
  if (actionClass.validateOptions === undefined) return [];
  try {
    const problems: unknown = actionClass.validateOptions(options) ?? [];
    if (Array.isArray(problems)) return problems.map(String);
    // A promise that nobody waits for would end the process if it were rejected.
    Promise.resolve(problems).catch(() => {});
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

function createRegistrationError(origin: string, problem: string, cause?: unknown): AppError {
  return new AppError('usage', `${origin}: ${problem}`, {}, cause);
}
