/**
 * The public endpoint: ANY /webhook/in/{pathSegment}. The checks stand in the contract's order and
 * the first that fails answers; nothing is read or hashed before it is allowed. Every answer is
 * exactly `{"success", "message", "data"}`.
 */
import { CHAIN_HEADER, hopsOf } from '../../base/chain.ts';
import { AppError, messageOf } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { quoted } from '../../base/text/refusal.ts';
import type { Exchange, Handler } from '../../server/route.ts';
import type { ConfigurationIndex } from '../actions/configuration-index.ts';
import { ActionResult } from '../actions/action.ts';
import type { Payload } from '../actions/action.ts';
import type { ActionCall, ActionRegistry } from '../actions/registry.ts';
import { FAILED_MESSAGE, encodeData, runAction } from '../actions/run-action.ts';
import type { ActionRunner } from '../actions/run-action.ts';
import type { HookIndex, ReadyHook } from './hook-index.ts';
import { decodePayload, noPayload } from '../actions/payload.ts';
import { isSignatureValid, signatureProblem } from '../senders/x-signature.ts';

export type ReceiveParts = {
  readonly hooks: HookIndex;
  readonly configurations: ConfigurationIndex;
  readonly actions: ActionRegistry;
  readonly clock: Clock;
  readonly runner: ActionRunner;
  readonly limits: {
    readonly allowUnsignedWhenSecretMissing: boolean;
    /** Actions under way at once for one hook. */
    readonly maxConcurrent: number;
  };
};

// Slots free up as actions end, which takes a moment, not minutes.
const BUSY_RETRY_S = 1;
const FULL_RETRY_S = 10;
const REJECTED = 'a call of an incoming webhook was rejected';
const UNKNOWN = 'Webhook not found or disabled';
const UNSIGNED = 'the webhook has no secret, and incoming.allowUnsignedWhenSecretMissing is false';
const BODY_STATUSES: Readonly<Record<string, number>> = {
  too_large: 413, timeout: 408, malformed: 400,
};
const JSON_HEADERS = ['Content-Type', 'application/json'] as const;
// Text goes out in one write with its head; a buffer would take two pieces.
const DONE = '{"success":true,"message":"","data":{}}';

export function createReceiver(parts: ReceiveParts): Handler {
  return (exchange) => {
    const hook = parts.hooks.findByPath(exchange.params[0] ?? '');
    if (hook === undefined) return refuseUnknown(parts.hooks, exchange);
    if (!hook.enabled) {
      tell(exchange, hook, 404, 'the webhook is disabled');
      return refuse(exchange, 404, UNKNOWN);
    }
    const { method = '' } = exchange.request;
    if (!hook.methods.includes(method)) {
      tell(exchange, hook, 405, `the method ${method} is not among ${hook.methods.join(', ')}`);
      return refuse(exchange, 405, 'Method not allowed', ['Allow', hook.methods.join(', ')]);
    }
    const waitS = hook.load.bucket?.take(parts.clock.monotonicMs()) ?? 0;
    if (waitS > 0) {
      tell(exchange, hook, 429, 'more requests a second than incoming.rateLimit');
      return refuse(exchange, 429, 'Too many requests', ['Retry-After', String(waitS)]);
    }
    return receive(parts, exchange, hook);
  };
}

/** The same answer for a path that no hook can have. */
export function createRefuser(hooks: HookIndex): Handler {
  return (exchange) => refuseUnknown(hooks, exchange);
}

function refuseUnknown(hooks: HookIndex, exchange: Exchange): void {
  hooks.strangers.warning(exchange, REJECTED, {
    hook: null, status: 404, client: exchange.clientAddress,
    reason: `there is no webhook at ${quoted(exchange.params[0] ?? '')}`,
  });
  refuse(exchange, 404, UNKNOWN);
}

/** Says in the log why a call is rejected: its sender is told little, its owner has to know. */
function tell(exchange: Exchange, hook: ReadyHook, status: number, reason: string): void {
  hook.load.rejections.warning(exchange, REJECTED, {
    hook: hook.identifier, path: hook.pathSegment, status, reason, client: exchange.clientAddress,
  });
}

async function receive(parts: ReceiveParts, exchange: Exchange, hook: ReadyHook): Promise<void> {
  const body = await readBody(exchange, hook);
  if (body === null) return;
  const { limits } = parts;
  const signature = exchange.request.headers['x-signature'];
  const isTrusted = hook.key === null ? limits.allowUnsignedWhenSecretMissing
    : isSignatureValid(hook.key, body, signature);
  if (!isTrusted) {
    tell(exchange, hook, 401, hook.key === null ? UNSIGNED : signatureProblem(signature));
    return refuse(exchange, 401, 'Signature verification failed');
  }
  if (hook.load.running >= limits.maxConcurrent) {
    tell(exchange, hook, 503, `${hook.load.running} actions are under way, which is `
      + 'incoming.maxConcurrent');
    const headers = ['Retry-After', String(BUSY_RETRY_S)];
    return refuse(exchange, 503, 'Too many requests in progress', headers);
  }
  hook.load.running += 1;
  try {
    const outcome = run(parts, exchange, hook, body);
    // An action that answered at once needs no turn of the event loop.
    answer(exchange, outcome instanceof ActionResult ? outcome : await outcome);
  } catch (thrown) {
    refuseForNow(exchange, hook, thrown);
  } finally {
    hook.load.running -= 1;
  }
}

/** null: answered already. */
async function readBody(exchange: Exchange, hook: ReadyHook): Promise<Buffer | null> {
  try {
    return await exchange.readBody();
  } catch (thrown) {
    const code = thrown instanceof AppError ? thrown.code : null;
    const status = code === null ? undefined : BODY_STATUSES[code];
    if (status !== undefined) tell(exchange, hook, status, messageOf(thrown));
    if (code === 'too_large') refuse(exchange, 413, 'Payload too large');
    else if (code === 'timeout') refuse(exchange, 408, 'Request timeout');
    else if (code === 'malformed') refuse(exchange, 400, 'Bad request');
    else if (code === 'misconfigured') refuseTaken(exchange, messageOf(thrown));
    else refuseBroken(exchange, thrown);
    return null;
  }
}

function run(
  parts: ReceiveParts, exchange: Exchange, hook: ReadyHook, body: Buffer,
): ActionResult | Promise<ActionResult> {
  const configuration = parts.configurations.find(hook.actionConfiguration);
  const action = configuration === undefined
    ? undefined : parts.actions.find(configuration.actionType);
  if (configuration === undefined || action === undefined) {
    const { actionType = null } = configuration ?? {};
    exchange.log.error('the action of an incoming webhook is not there', {
      hook: hook.identifier, configuration: hook.actionConfiguration, actionType,
    });
    return ActionResult.fail(FAILED_MESSAGE);
  }
  const call = new ReceivedCall(exchange, body, configuration.options);
  return runAction(action, call, parts.runner, exchange);
}

/** A request as an action sees it; the body is decoded when something looks at it. */
class ReceivedCall implements ActionCall {
  readonly place = 'incoming';
  readonly options: ActionCall['options'];
  readonly #exchange: Exchange;
  readonly #body: Buffer;
  #decoded: Payload | null | undefined;

  constructor(exchange: Exchange, body: Buffer, options: ActionCall['options']) {
    this.#exchange = exchange;
    this.#body = body;
    this.options = options;
  }

  get context(): ActionCall['context'] {
    return { headers: this.#exchange.request.headers, query: this.#exchange.search };
  }

  get log(): Logger {
    return this.#exchange.log;
  }

  get hops(): number {
    return hopsOf(this.#exchange.request.headers[CHAIN_HEADER]);
  }

  payload = (): Payload => this.#decode() ?? noPayload();

  bytes = (): Buffer | null => this.#decode() === null ? null : this.#body;

  #decode(): Payload | null {
    if (this.#decoded === undefined) this.#decoded = decodePayload(this.#body);
    return this.#decoded;
  }
}

/** Nothing was accepted, or we cannot know: the sender must try again. */
function refuseForNow(exchange: Exchange, hook: ReadyHook, thrown: unknown): void {
  if (!(thrown instanceof AppError)) return refuseBroken(exchange, thrown);
  const headers = ['Retry-After', String(thrown.details.retryAfterS ?? FULL_RETRY_S)];
  tell(exchange, hook, thrown.code === 'storage_full' ? 507 : 503, thrown.message);
  if (thrown.code === 'storage_full') refuse(exchange, 507, 'Storage is full', headers);
  else refuse(exchange, 503, 'Cannot be accepted now', headers);
}

function refuseBroken(exchange: Exchange, thrown: unknown): void {
  exchange.log.error('a webhook failed unexpectedly', { error: thrown });
  refuse(exchange, 500, 'Internal error');
}

/** The program that we are mounted in is at fault, and the sender may be its author at work. */
function refuseTaken(exchange: Exchange, message: string): void {
  exchange.log.error(message, { path: exchange.route.path });
  refuse(exchange, 500, `Internal error: ${message}`);
}

function answer(exchange: Exchange, { success, message, data }: ActionResult): void {
  const text = encodeData(data, exchange);
  if (text === null) return refuse(exchange, 400, FAILED_MESSAGE);
  if (success && message === null && text === '{}') return exchange.send(200, JSON_HEADERS, DONE);
  const body = `{"success":${success},"message":${JSON.stringify(message ?? '')},"data":${text}}`;
  exchange.send(success ? 200 : 400, JSON_HEADERS, body);
}

function refuse(
  exchange: Exchange, status: number, message: string, headers: readonly string[] = [],
): void {
  const body = `{"success":false,"message":${JSON.stringify(message)},"data":{}}`;
  exchange.send(status, [...JSON_HEADERS, ...headers], body);
}
