/**
 * The messages between the main thread and the action worker. The worker gets orders and sends
 * reports. Runs, and what ended them, go as JSON text, those of one turn of the event loop in one
 * message: to wake a thread for each, and to have it copied, took twice as long. All others are
 * copied by structured cloning (HTML, section 2.7): they are plain data alone. A module is named
 * by its number in the list of files, a call or request by one of its own.
 */
import type { TraceContext } from '../../../base/trace-context.ts';
import { isCount, isJsonObject } from '../../../base/fields.ts';
import { LOG_LEVELS, type LogFields, type LogLevel } from '../../../base/log.ts';
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
  readonly context: Omit<ActionContext, 'body'>;
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

/** Most causes of an error that a worker tells (`describeAny`). */
const CAUSES_MAX = 4;

type MemberChecks = Readonly<Record<string, (value: unknown) => boolean>>;

/** The checks of the members of reports. Errors and texts are checked as deep as readers look. */
const REPORT_MEMBERS: Readonly<Record<WorkerReport['report'], MemberChecks>> = {
  loaded: { callId: isCount, isActionClass: isFlag, thrown: isThrown },
  validated: { callId: isCount, problems: isTextsOrNull, thrown: isThrown },
  ended: { runs: isText },
  log: {
    callId: isCount, logTags: isJsonObject, level: isLevel, thrownMessage: isThrown,
    fields: isJsonObject, errors: (value) => isJsonObject(value)
      && Object.values(value).every((thrown) => thrown !== null && isThrown(thrown)),
  },
  request: {
    callId: isCount, requestId: isCount, hops: isCount, trace: isTrace, request: isRequest,
  },
  abort: { requestId: isCount },
  alive: { pingId: isCount, bufferBytes: isCount },
};

/** Whether our program sent the report: a module can send anything by the same port. */
export function isWorkerReport(value: unknown): value is WorkerReport {
  if (!isJsonObject(value)) return false;
  const kind: unknown = value['report'];
  const row = Object.entries(REPORT_MEMBERS).find(([name]) => name === kind);
  return row !== undefined
    && Object.entries(row[1]).every(([name, isRight]) => isRight(value[name]));
}

/** Throws for a text that is not of our program. */
export function parseRunReports(text: string): readonly RunReport[] {
  const reports: unknown = JSON.parse(text);
  if (Array.isArray(reports) && reports.every(isRunReport)) return reports;
  throw new TypeError('the runs that ended are none of the worker\'s');
}

function isRunReport(value: unknown): value is RunReport {
  return isJsonObject(value) && isCount(value['callId']) && isThrown(value['thrown'])
    && isOutcome(value['outcome']);
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean';
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isTextsOrNull(value: unknown): boolean {
  return value === null || Array.isArray(value) && value.every(isText);
}

function isLevel(value: unknown): boolean {
  return LOG_LEVELS.some((level) => level === value);
}

function isThrown(value: unknown, depth = 0): boolean {
  if (value === null) return true;
  return isJsonObject(value) && depth <= CAUSES_MAX && isText(value['text'])
    && (value['members'] === null || isJsonObject(value['members']))
    && (value['requestId'] === null || isCount(value['requestId']))
    && isThrown(value['cause'], depth + 1);
}

function isOutcome(value: unknown): boolean {
  return value === null || isJsonObject(value) && isThrown(value['dataError']);
}

function isTrace(value: unknown): boolean {
  return value === null || isJsonObject(value);
}

/** The HTTP client checks the rest: this checks only the body, whose bytes are counted. */
function isRequest(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const body: unknown = value['body'];
  return body === undefined || body === null || isText(body) || ArrayBuffer.isView(body);
}

/** The share of a request in `UNANSWERED_KIB_MAX`, with all that it costs. */
export function requestKiB(body: HttpRequest['body']): number {
  return 16 + Math.ceil((typeof body === 'string' ? body.length : body?.byteLength ?? 0) / 1024);
}

export type WorkerSetup = {
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
