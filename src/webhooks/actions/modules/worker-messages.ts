/**
 * The messages between the main thread and the action worker. The worker gets orders and sends
 * reports. Runs, and what ended them, go as JSON text, those of one turn of the event loop in one
 * message: to wake a thread for each, and to have it copied, took twice as long. All others are
 * copied by structured cloning (HTML, section 2.7): they are plain data alone. A module is named
 * by its number in the list of files, a call or request by one of its own. The port is not the
 * `parentPort` of the thread, by which a module could send anything.
 */
import type { TraceContext } from '../../../base/trace-context.ts';
import type { LogFields, LogLevel } from '../../../base/log.ts';
import type { JsonObject } from '../../../base/schema.ts';
import type { HttpRequest } from '../../../client/http-client.ts';
import type { ActionContext } from '../action.ts';

export type ThrownMessage = {
  readonly text: string;
  /** An error's name, message, stack and other members that are text, numbers or booleans. */
  readonly members: Readonly<Record<string, unknown>> | null;
  readonly cause: ThrownMessage | null;
  /** The request of the action that failed with the error; null: it is another error. */
  readonly requestId: number | null;
};

export type WorkerOrder =
  | {
    readonly order: 'load'; readonly callId: number; readonly moduleId: number;
    readonly url: string;
  }
  | {
    readonly order: 'validate'; readonly callId: number; readonly moduleId: number;
    readonly options: JsonObject;
  }
  | {
    /** `runs` is the JSON of a list of `ModuleRun`. */
    readonly order: 'run'; readonly runs: string;
    /** The bodies of the runs and the payloads that are no bodies, in their order. */
    readonly bytes: Uint8Array;
  }
  | ({ readonly order: 'respond'; readonly requestId: number } & RequestSettlement)
  | { readonly order: 'ping'; readonly pingId: number };

export type ModuleRun = {
  readonly callId: number;
  readonly moduleId: number;
  /** Without its body, which is the first of the bytes of the run. */
  readonly context: Omit<ActionContext, 'body'> & { readonly body?: undefined };
  readonly bodyLength: number;
  /** The length of the payload's JSON, which follows; 'body': it is the body; null: none is. */
  readonly payload: number | 'body' | null;
  readonly options: JsonObject;
  readonly hops: number;
  readonly trace: TraceContext | null;
  /** The first fields of each of its log lines. */
  readonly logTags: LogFields;
};

export type RequestSettlement =
  { readonly response: ResponseMessage } | { readonly thrown: ThrownMessage };

type ResponseMessage = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
};

/**
 * The return value of `execute`, which `toActionResult` checks. A member of a wrong type is
 * replaced by another that is refused as well: null for `success`, 0 for `message`, 0 for `data`
 * once it is rebuilt.
 */
export type OutcomeMessage = {
  readonly success: unknown;
  readonly message: unknown;
  /** The parsed JSON; absent: the data is neither object nor array, or cannot be JSON. */
  readonly data?: unknown;
  /** Why the data cannot be JSON; null: it can. */
  readonly dataError: ThrownMessage | null;
};

export type LoadReport = {
  readonly report: 'loaded'; readonly callId: number;
  /** Whether the export is a class with an action's members, which then has thrown, if any has. */
  readonly isActionClass: boolean;
  readonly identifier: unknown;
  readonly label: unknown;
  readonly thrown: ThrownMessage | null;
};

export type CheckReport = {
  readonly report: 'validated'; readonly callId: number;
  /** null: `validateOptions` gave no list. */
  readonly problems: readonly string[] | null;
  readonly thrown: ThrownMessage | null;
};

export type RunReport = {
  readonly callId: number;
  /** null: it returned no object with a member `success`. */
  readonly outcome: OutcomeMessage | null;
  readonly thrown: ThrownMessage | null;
};

export type LogReport = {
  readonly report: 'log'; readonly callId: number;
  /** Repeats the call's, which may have ended. */
  readonly logTags: LogFields;
  readonly level: LogLevel;
  /** A text, mostly; null: `thrownMessage` is logged in its place. */
  readonly message: unknown;
  readonly thrownMessage: ThrownMessage | null;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly errors: Readonly<Record<string, ThrownMessage>>;
};

export type RequestReport = {
  readonly report: 'request'; readonly callId: number; readonly requestId: number;
  /** Repeats the call's, which may have ended. */
  readonly hops: number;
  readonly trace: TraceContext | null;
  readonly request: Omit<HttpRequest, 'signal'>;
};

export type WorkerReport =
  | LoadReport | CheckReport | LogReport | RequestReport
  /** `runs` is the JSON of a list of `RunReport`. */
  | { readonly report: 'ended'; readonly runs: string }
  | { readonly report: 'abort'; readonly requestId: number }
  | AliveReport;

export type AliveReport = {
  readonly report: 'alive'; readonly pingId: number;
  /** The bytes of the buffers of the thread, which are not in its heap. */
  readonly bufferBytes: number;
};

/** The share of a request in `UNANSWERED_KIB_MAX`, with all that it costs. */
export function requestKiB(body: HttpRequest['body']): number {
  return 16 + Math.ceil((typeof body === 'string' ? body.length : body?.byteLength ?? 0) / 1024);
}

export type WorkerSetup = {
  /** The end of the port that the worker has. */
  readonly port: {
    postMessage(report: WorkerReport): void;
    on(event: 'message', listener: (order: WorkerOrder) => void): void;
  };
  readonly writesDebug: boolean;
  readonly marks: WorkerMarks;
  /** The limits of `unreadLines` and `unansweredKiB`: code that goes on sending waits at them. */
  readonly unreadLinesMax: number;
  readonly unansweredKiBMax: number;
};

/**
 * Numbers in shared memory, each in an array of its own: a thread that ends, or does not stop,
 * sends or reads no message. A module is marked by its number plus 1; 0 stands for none.
 */
export type WorkerMarks = {
  readonly enteredModule: Int32Array;
  readonly exitingModule: Int32Array;
  /** The log lines that the main thread has not read yet. */
  readonly unreadLines: Int32Array;
  /** The requests that the main thread has not answered yet: see `requestKiB`. */
  readonly unansweredKiB: Int32Array;
  /** 0: the inspector takes messages; 1: one is being sent; 2: the thread ends, and none may be. */
  readonly inspector: Int32Array;
};
