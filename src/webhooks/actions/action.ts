/**
 * The extension point: what an action is, what it is given and what it answers. Everything here is
 * exported to authors of custom actions.
 */
import type { Logger } from '../../base/log.ts';
import type { JsonObject } from '../../base/schema.ts';
import type { HttpSender } from '../http/client-port.ts';
import type { Payload } from './payload.ts';

export type { Payload };

/** Where a payload came from: lower-case header names, and the raw query without `?`. */
export type ActionContext = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query: string;
};

export type ActionOptions = JsonObject;

/** What comes out; `data` is a JSON object or array, `message` is for the caller. */
export type ActionOutcome = {
  readonly success: boolean;
  readonly message?: string | null;
  readonly data?: object;
};

/** An outcome made by `ok` or `fail`. A plain object of the same shape counts as well. */
export class ActionResult implements ActionOutcome {
  readonly success: boolean;
  readonly message: string | null;
  readonly data: object;

  constructor(success: boolean, message: string | null, data: object) {
    this.success = success;
    this.message = message;
    this.data = data;
  }

  static ok(data: object = {}, message: string | null = null): ActionResult {
    return new ActionResult(true, message, data);
  }

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
  /** Runs for every request; what it throws is a failure whose detail stands in the log only. */
  execute(
    payload: Payload, context: ActionContext, options: ActionOptions, tools: ActionTools,
  ): ActionOutcome | Promise<ActionOutcome>;
}

/** Instantiated once, at start. */
export interface ActionClass {
  new (): Action;
  /** The `actionType` that configurations name: `[a-z0-9][a-z0-9._-]{0,63}`. */
  identifier(): string;
  label(): string;
  /** What is wrong with a configuration's options, one sentence a problem. */
  validateOptions?(options: ActionOptions): string[];
}
