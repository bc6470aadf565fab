/** An action's interface, input and result. Custom actions get everything exported here. */
import type { Logger } from '../../base/log.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { HttpSender } from '../members/http-sender.ts';
import type { Payload } from './action-payload.ts';

export type { Payload };

/** The request of a payload; empty in most members for an outgoing webhook. */
export type ActionContext = {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The raw query without `?`. */
  readonly query: string;
  /** The bytes as they came. */
  readonly body: Buffer;
  /** The value of Content-Type; null: there is none. */
  readonly contentType: string | null;
  readonly method: string;
  /** `/webhook/in/<pathSegment>`, or the same below `server.webhookPath`, as it was called. */
  readonly path: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly receivedAt: string;
  /** The sender's name of the event; null: the preset knows none. */
  readonly event: string | null;
  /** The sender's id of the event; null: the preset knows none. */
  readonly eventId: string | null;
  /** null: the request was not verified. */
  readonly verified: VerifiedSender | null;
  /** The id of the stored request; null: it is not stored. */
  readonly request: string | null;
  /** The number of the run for this request; the first is 1. */
  readonly attempt: number;
  /** Whether an operator sent the request again. */
  readonly replay: boolean;
};

/** The preset that verified a request, and which of the webhook's secrets matched. */
export type VerifiedSender = { readonly preset: string; readonly secret: 'current' | 'previous' };

export type ActionOptions = JsonObject;

/** The result of an action: `data` is a JSON object or array, `message` is for the caller. */
export type ActionOutcome = {
  readonly success: boolean;
  readonly message?: string | null;
  readonly data?: object;
};

/**
 * The result that `execute` returns: `ActionResult.ok` for success, `ActionResult.fail` for
 * failure. A plain object of the same shape is accepted as well.
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

/** Tools that an action gets, so that it need not import anything. `http` is the shared client. */
export type ActionTools = {
  readonly log: Logger;
  readonly http: HttpSender;
  readonly ActionResult: typeof ActionResult;
};

export interface Action {
  /**
   * Runs the action for one request. If it throws, or takes longer than the setting
   * `incoming.actionTimeout`, the run has failed, and only the log has the details.
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
  /** The name that lists of actions show to people. */
  label(): string;
  /** Problems of a configuration's options, one sentence each. */
  validateOptions?(options: ActionOptions): string[];
}
