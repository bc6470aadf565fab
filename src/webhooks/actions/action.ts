/**
 * The extension point: what an action is, what it is given and what it answers. Everything here is
 * exported to authors of custom actions.
 */
import type { Logger } from '../../base/log.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { HttpSender } from '../http/http-sender.ts';
import type { Payload } from './action-payload.ts';

export type { Payload };

/** Where a payload came from. For an outgoing webhook there is no request: most of it is empty. */
export type ActionContext = {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The raw query without `?`. */
  readonly query: string;
  /** The bytes as they came. */
  readonly body: Buffer;
  /** The header of that name; null without one. */
  readonly contentType: string | null;
  readonly method: string;
  readonly path: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly receivedAt: string;
  /** What happened, in the sender's words; null where its preset knows none. */
  readonly event: string | null;
  /** The sender's identifier of what happened; null where its preset knows none. */
  readonly eventId: string | null;
  /** null: nobody vouches for the request. */
  readonly verified: Verified | null;
  /** The id of the kept request; null where none is kept. */
  readonly request: string | null;
  /** Which run for this request it is; the first is 1. */
  readonly attempt: number;
  /** Whether an operator sent the request again. */
  readonly replay: boolean;
};

/** By which preset, and with which of the webhook's secrets, a request was verified. */
export type Verified = { readonly preset: string; readonly secret: 'current' | 'previous' };

export type ActionOptions = JsonObject;

/** What comes out; `data` is a JSON object or array, `message` is for the caller. */
export type ActionOutcome = {
  readonly success: boolean;
  readonly message?: string | null;
  readonly data?: object;
};

/**
 * What `execute` returns: `ActionResult.ok` when the action succeeded, `ActionResult.fail` when it
 * did not. A plain object of the same shape counts as well.
 */
export class ActionResult implements ActionOutcome {
  readonly success: boolean;
  readonly message: string | null;
  readonly data: object;

  constructor(success: boolean, message: string | null, data: object) {
    this.success = success;
    this.message = message;
    this.data = data;
  }

  /** An incoming webhook answers 200 with both; an outgoing one sends `data`. */
  static ok(data: object = {}, message: string | null = null): ActionResult {
    return new ActionResult(true, message, data);
  }

  /** An incoming webhook answers 400 with both; for an outgoing one nothing is sent. */
  static fail(message: string | null = null, data: object = {}): ActionResult {
    return new ActionResult(false, message, data);
  }
}

/** What an action may use without importing anything. `http` is the shared client. */
export type ActionTools = {
  readonly log: Logger;
  readonly http: HttpSender;
  readonly ActionResult: typeof ActionResult;
};

export interface Action {
  /**
   * Runs for every request. What it throws, or a result later than the setting
   * `incoming.actionTimeout`, is a failure whose detail stands in the log only.
   */
  execute(
    payload: Payload, context: ActionContext, options: ActionOptions, tools: ActionTools,
  ): ActionOutcome | Promise<ActionOutcome>;
}

/** Instantiated once, at start. */
export interface ActionClass {
  new (): Action;
  /** The `actionType` that configurations name: `[A-Za-z0-9][A-Za-z0-9._:-]{0,127}`. */
  identifier(): string;
  /** What people read, in lists of the actions. */
  label(): string;
  /** What is wrong with a configuration's options, one sentence a problem. */
  validateOptions?(options: ActionOptions): string[];
}
