/**
 * The program of the action worker: it loads the modules, runs their actions, and gives each run
 * the tools `http` and `log`, which are in the main thread. The text of these functions is the
 * program (`createWorkerProgram`), so that the bundle, the single binary and a program that embeds
 * us need no file for it. The functions may therefore use each other, their arguments and the
 * globals of Node, and nothing else: no import but of types, and no constant of this file. Values
 * of other files come as an argument (`WorkerImports`), as bundles may name them otherwise in each
 * file. Each function that the worker uses stands in the list of `createWorkerProgram`.
 */
import type { LogLevel } from '../../../base/log.ts';
import type { HttpRequest } from '../../../client/http-client.ts';
import type { TargetResponse } from '../../members/http-sender.ts';
import { isActionClass } from '../action-registry.ts';
import {
  ActionResult, type Action, type ActionClass, type ActionTools, type Payload,
} from '../action.ts';
import {
  requestKiB, type CheckReport, type LoadReport, type LogReport, type ModuleRun,
  type OutcomeMessage, type RequestReport, type RequestSettlement, type ThrownMessage,
  type WorkerOrder, type WorkerSetup,
} from './worker-messages.ts';

// In the main thread.

export function createWorkerProgram(): string {
  const functions = [
    followOrder, loadModule, checkModuleOptions, beginRuns, runModule, enterModule, parsePayload,
    sendEnded, encodeOutcome, createTools, reportLog, isErrorValue, sendRequest, waitWhileOver,
    settleRequest, closeInspector, markExit, isInFile, describeThrown, describeAny, rebuildThrown,
    toPlainValue, copyBytes,
  ];
  // The class names itself by its declared name.
  const resultClass = `(() => {
    const ${ActionResult.name} = ${String(ActionResult)};
    return ${ActionResult.name};
  })()`;
  const imports = `{ ActionResultClass: ${resultClass}, isActionClass: ${String(isActionClass)},
    requestKiB: ${String(requestKiB)}, importModule: (url) => import(url) }`;
  return [
    "const { workerData } = require('node:worker_threads');",
    // The loader of our tests names functions with it.
    'const __name = (value) => value;',
    ...functions.map(String),
    `(${String(startActionWorker)})({ ...workerData }, ${imports});`,
    // Modules can ask for `workerData` as well.
    'delete workerData.port;',
  ].join('\n');
}

/** The outcome as the action would have returned it in this thread; null without one. */
export function rebuildOutcome(outcome: OutcomeMessage | null): unknown {
  if (outcome === null) return null;
  const { success, message, data, dataError } = outcome;
  if (dataError === null && data === undefined) return { success, message, data: 0 };
  if (typeof data === 'object' && data !== null) return { success, message, data };
  // An object with the JSON of the worker's object, or one that throws what that has thrown.
  const toJSON = (): unknown => {
    if (dataError !== null) throw rebuildThrown(dataError);
    return data;
  };
  return { success, message, data: { toJSON } };
}

// In the worker.

type ActionInstance = {
  readonly actionClass: ActionClass; readonly instance: Action;
  readonly execute: Action['execute'];
};

type PendingRequest = {
  readonly resolve: (response: TargetResponse) => void;
  readonly reject: (reason: unknown) => void;
  /** Stops listening to the signal, which may live longer. */
  readonly unlisten: () => void;
};

type WorkerImports = {
  readonly ActionResultClass: typeof ActionResult;
  readonly isActionClass: (candidate: unknown) => candidate is ActionClass;
  readonly requestKiB: (body: HttpRequest['body']) => number;
  readonly importModule: (url: string) => Promise<unknown>;
};

type WorkerState = WorkerSetup & WorkerImports & {
  /** The URLs of the modules. */
  readonly places: Map<number, string>;
  readonly actions: Map<number, ActionInstance>;
  readonly requests: Map<number, PendingRequest>;
  readonly requestIds: WeakMap<object, number>;
  requestCount: number;
  /** Resolves when the runs of all messages so far have begun. */
  whenBegun: Promise<void>;
  endedRuns: string[];
};

function startActionWorker(setup: WorkerSetup, imports: WorkerImports): void {
  const state: WorkerState = {
    ...setup, ...imports, places: new Map(), actions: new Map(), requests: new Map(),
    requestIds: new WeakMap(), requestCount: 0, whenBegun: Promise.resolve(), endedRuns: [],
  };
  process.on('exit', () => {
    sendEnded(state);
    closeInspector(state.marks.inspector);
    markExit(state);
  });
  setup.port.on('message', (order) => followOrder(state, order));
}

function followOrder(state: WorkerState, order: WorkerOrder): void {
  switch (order.order) {
    case 'load': return void loadModule(state, order);
    case 'validate': return checkModuleOptions(state, order);
    case 'run':
      state.whenBegun = state.whenBegun.then(() => beginRuns(state, order));
      return;
    case 'respond': return settleRequest(state, order.requestId, order);
    case 'ping': return state.port.postMessage({
      report: 'alive', pingId: order.pingId, bufferBytes: process.memoryUsage().arrayBuffers,
    });
  }
}

async function loadModule(
  state: WorkerState, { callId, moduleId, url }: WorkerOrder & { readonly order: 'load' },
): Promise<void> {
  const { port, places, actions, importModule } = state;
  const report: { -readonly [Member in keyof LoadReport]: LoadReport[Member] } = {
    report: 'loaded', callId, isActionClass: false, identifier: null, label: null, thrown: null,
  };
  places.set(moduleId, url);
  try {
    const module = await enterModule(state, moduleId, () => importModule(url));
    const candidate = typeof module === 'object' && module !== null && 'default' in module
      ? module.default : undefined;
    if (state.isActionClass(candidate)) {
      report.isActionClass = true;
      enterModule(state, moduleId, () => {
        const identifier: unknown = candidate.identifier();
        const label: unknown = candidate.label();
        report.identifier = typeof identifier === 'string' ? identifier : null;
        report.label = typeof label === 'string' ? label : null;
        const instance = new candidate();
        actions.set(moduleId, { actionClass: candidate, instance, execute: instance.execute });
      });
    }
  } catch (thrown) {
    report.thrown = describeThrown(thrown, null);
  }
  port.postMessage(report);
}

function checkModuleOptions(
  state: WorkerState, { callId, moduleId, options }: WorkerOrder & { readonly order: 'validate' },
): void {
  const { actionClass } = state.actions.get(moduleId) ?? {};
  let problems: CheckReport['problems'] = [];
  let thrown: ThrownMessage | null = null;
  try {
    const result: unknown =
      enterModule(state, moduleId, () => actionClass?.validateOptions?.(options)) ?? [];
    problems = Array.isArray(result) ? result.map(String) : null;
    // A rejected promise that nobody waits for would end the worker.
    if (problems === null) Promise.resolve(result).catch(() => {});
  } catch (caught) {
    thrown = describeThrown(caught, null);
  }
  state.port.postMessage({ report: 'validated', callId, problems, thrown });
}

/**
 * Begins the runs of a message, after those of earlier messages. Whenever the runs have held the
 * thread up for 2 ms, other messages are read and results are reported. A run that never ends loses
 * the results of the runs that began in the same 2 ms before it.
 */
async function beginRuns(
  state: WorkerState, { runs, bytes }: WorkerOrder & { readonly order: 'run' },
): Promise<void> {
  const msMax = 2;
  let offset = 0;
  let startedMs = performance.now();
  const takeBytes = (length: number): Buffer => {
    const begin = offset;
    offset += length;
    // In memory of its own: an action that keeps a few bytes must not keep those of a whole turn,
    // and the `buffer` of a body shows no other. `Buffer.from` of bytes takes them from a pool.
    return Buffer.from(bytes.slice(begin, offset).buffer);
  };
  for (const run of JSON.parse(runs) as readonly ModuleRun[]) {
    const body = takeBytes(run.bodyLength);
    let json: Buffer | null = body;
    if (run.payload !== 'body') json = run.payload === null ? null : takeBytes(run.payload);
    void runModule(state, run, body, json);
    if (performance.now() < startedMs + msMax) continue;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    sendEnded(state);
    startedMs = performance.now();
  }
}

async function runModule(
  state: WorkerState, run: ModuleRun, body: Buffer, json: Buffer | null,
): Promise<void> {
  const { callId, moduleId, options } = run;
  const context = { ...run.context, body };
  let outcome = 'null';
  let thrown: ThrownMessage | null = null;
  try {
    const payload = parsePayload(json);
    const action = state.actions.get(moduleId);
    const running = enterModule(state, moduleId, () => action?.execute.call(
      action.instance, payload, context, options, createTools(state, run)));
    outcome = encodeOutcome(await running);
  } catch (caught) {
    thrown = describeThrown(caught, state.requestIds);
  }
  const report = `{"callId":${callId},"outcome":${outcome},"thrown":${JSON.stringify(thrown)}}`;
  if (state.endedRuns.push(report) === 1) setImmediate(sendEnded, state);
}

function sendEnded(state: WorkerState): void {
  if (state.endedRuns.length === 0) return;
  const runs = `[${state.endedRuns.join()}]`;
  state.endedRuns = [];
  state.port.postMessage({ report: 'ended', runs });
}

/** Marks the module while its code runs, until it waits for something. */
function enterModule<Result>(state: WorkerState, moduleId: number, run: () => Result): Result {
  const { enteredModule } = state.marks;
  enteredModule[0] = moduleId + 1;
  try {
    return run();
  } finally {
    enteredModule[0] = 0;
  }
}

function parsePayload(json: Buffer | null): Payload {
  const text = json === null ? '[]' : json.toString('utf8');
  // JSON.parse refuses a byte order mark.
  return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as Payload;
}

/** The JSON of an `OutcomeMessage`; `null` for anything but an object with a member `success`. */
function encodeOutcome(outcome: unknown): string {
  if (typeof outcome !== 'object' || outcome === null || !('success' in outcome)) return 'null';
  const message = 'message' in outcome ? outcome.message ?? null : null;
  const data = 'data' in outcome ? outcome.data ?? {} : {};
  let dataMember = '';
  let dataError: ThrownMessage | null = null;
  try {
    if (typeof data === 'object') dataMember = `"data":${JSON.stringify(data) ?? 'null'},`;
  } catch (thrown) {
    dataError = describeThrown(thrown, null);
  }
  const others = JSON.stringify({
    success: typeof outcome.success === 'boolean' ? outcome.success : null,
    message: message === null || typeof message === 'string' ? message : 0,
    dataError,
  });
  return `{${dataMember}${others.slice(1)}`;
}

function createTools(
  state: WorkerState, { callId, hops, trace, logTags }: ModuleRun,
): ActionTools {
  const logAt = (level: LogLevel) => (message: string, fields: object = {}): void =>
    reportLog(state, { callId, logTags, level }, message, fields);
  return {
    log: {
      debug: logAt('debug'), info: logAt('info'), warning: logAt('warning'), error: logAt('error'),
    },
    http: { request: (request) => sendRequest(state, { callId, hops, trace }, request) },
    ActionResult: state.ActionResultClass,
  };
}

function reportLog(
  { port, marks: { unreadLines }, unreadLinesMax, writesDebug }: WorkerState,
  line: Pick<LogReport, 'callId' | 'logTags' | 'level'>, message: unknown, input: object,
): void {
  if (line.level === 'debug' && !writesDebug) return;
  waitWhileOver(unreadLines, unreadLinesMax);
  const errors: Record<string, ThrownMessage> = {};
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input ?? {})) {
    const isError = isErrorValue(value);
    if (isError) errors[name] = describeThrown(value, null);
    fields[name] = isError ? null : value;
  }
  const thrownMessage = isErrorValue(message) ? describeThrown(message, null) : null;
  const report = { report: 'log', ...line, thrownMessage, errors } as const;
  const values = { message: thrownMessage === null ? message : null, fields };
  try {
    port.postMessage({ ...report, ...values });
  } catch {
    // Functions, symbols and the like cannot be copied to the other thread.
    port.postMessage({
      ...report, ...toPlainValue(values, { values: 5000 }, []) as typeof values,
    });
  }
  Atomics.add(unreadLines, 0, 1);
}

function isErrorValue(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Error]';
}

/**
 * Holds the thread up while the main thread is behind with the messages of a module: these are in
 * no heap with a limit, and a loop can send faster than they are read.
 */
function waitWhileOver(mark: Int32Array, max: number): void {
  for (let value = Atomics.load(mark, 0); value > max; value = Atomics.load(mark, 0)) {
    Atomics.wait(mark, 0, value, 1);
  }
}

function sendRequest(
  state: WorkerState, call: Pick<RequestReport, 'callId' | 'hops' | 'trace'>,
  request: HttpRequest,
): Promise<TargetResponse> {
  const { port, requests, marks: { unansweredKiB }, unansweredKiBMax } = state;
  waitWhileOver(unansweredKiB, unansweredKiBMax);
  state.requestCount += 1;
  const requestId = state.requestCount;
  return new Promise((resolve, reject) => {
    const { method, url, headers, body, timeoutMs, totalTimeoutMs, retries, signal } = request;
    const others = { timeoutMs, totalTimeoutMs, retries };
    port.postMessage({
      report: 'request', ...call, requestId,
      request: {
        method, url: typeof url === 'object' ? String(url) : url, ...others,
        ...headers === undefined ? {} : { headers },
        body: ArrayBuffer.isView(body) ? copyBytes(body) : body,
      },
    });
    Atomics.add(unansweredKiB, 0, state.requestKiB(body));
    const abort = (): void => port.postMessage({ report: 'abort', requestId });
    const unlisten = (): void => signal?.removeEventListener('abort', abort);
    requests.set(requestId, { resolve, reject, unlisten });
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort);
  });
}

function settleRequest(state: WorkerState, requestId: number, end: RequestSettlement): void {
  const request = state.requests.get(requestId);
  state.requests.delete(requestId);
  if (request === undefined) return;
  request.unlisten();
  if ('thrown' in end) {
    const error = rebuildThrown(end.thrown);
    if (typeof error === 'object' && error !== null) state.requestIds.set(error, requestId);
    request.reject(error);
    return;
  }
  const { response: { body, ...others } } = end;
  request.resolve({
    ...others, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
  } as TargetResponse);
}

/** Waits for the message being sent to the inspector, then allows none: see worker-inspector.ts. */
export function closeInspector(mark: Int32Array): void {
  // 0: none is being sent; 1: one is; 2: none is allowed.
  while (Atomics.compareExchange(mark, 0, 0, 2) === 1) Atomics.wait(mark, 0, 1, 1);
}

/** Marks the module that is ending the worker: it is on the stack. */
function markExit({ marks: { exitingModule }, places }: WorkerState): void {
  Error.stackTraceLimit = 100;
  for (const frame of (new Error().stack ?? '').split('\n')) {
    for (const [moduleId, url] of places) {
      if (!isInFile(frame, url)) continue;
      exitingModule[0] = moduleId + 1;
      return;
    }
  }
}

/**
 * Copies a value without the parts that cannot be sent. `budget` is the rest of the values of a
 * line, which is cut like lines of the log; `above` holds the objects around `value`.
 */
function toPlainValue(
  value: unknown, budget: { values: number }, above: readonly object[],
): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (above.length > 16 || above.includes(value)) return '…';
  const isDate = Object.prototype.toString.call(value) === '[object Date]';
  if (isDate || isErrorValue(value) || ArrayBuffer.isView(value)) {
    try {
      return structuredClone(value);
    } catch {
      return describeThrown(value, null).text;
    }
  }
  const names = Object.keys(value);
  const copy: Record<string, unknown> = {};
  for (const name of names.slice(0, budget.values)) {
    budget.values -= 1;
    copy[name] = toPlainValue(Reflect.get(value, name), budget, [...above, value]);
    if (budget.values <= 0) break;
  }
  return Array.isArray(value) ? Object.values(copy) : copy;
}

// In both.

/** Whether a line of a stack trace, or the URL of a script, names the file. */
export function isInFile(frame: string, url: string): boolean {
  // CommonJS modules go by their paths.
  const path = decodeURI(url.slice('file://'.length));
  return frame === url || frame === path
    || [url, path].some((place) => frame.includes(`(${place}:`) || frame.includes(` ${place}:`));
}

/** `requestIds` has the errors of requests. */
export function describeThrown(
  thrown: unknown, requestIds: WeakMap<object, number> | null, depth = 0,
): ThrownMessage {
  try {
    return describeAny(thrown, requestIds, depth);
  } catch {
    // A getter or a proxy has thrown on its part.
    return { text: 'an error that cannot be read', members: null, cause: null, requestId: null };
  }
}

function describeAny(
  thrown: unknown, requestIds: WeakMap<object, number> | null, depth: number,
): ThrownMessage {
  const text = (() => {
    try {
      return String(thrown);
    } catch {
      return 'a value that has no text';
    }
  })();
  if (typeof thrown !== 'object' || thrown === null || !('message' in thrown)) {
    return { text, members: null, cause: null, requestId: null };
  }
  const members: Record<string, unknown> = {};
  for (const name of ['name', 'message', 'stack', ...Object.keys(thrown)]) {
    const value = (thrown as Record<string, unknown>)[name];
    if (['string', 'number', 'boolean'].includes(typeof value)) members[name] = value;
  }
  // A chain of causes may be endless.
  const cause = 'cause' in thrown && thrown.cause !== undefined && depth < 4
    ? describeThrown(thrown.cause, null, depth + 1) : null;
  return { text, members, cause, requestId: requestIds?.get(thrown) ?? null };
}

export function rebuildThrown({ text, members, cause }: ThrownMessage): unknown {
  if (members === null) return text;
  const error = new Error(String(members['message'] ?? ''));
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(error, name, {
      value, enumerable: !['name', 'message', 'stack'].includes(name), configurable: true,
      writable: true,
    });
  }
  if (cause !== null) error.cause = rebuildThrown(cause);
  return error;
}

/** A view would be copied with all of its memory. */
export function copyBytes(bytes: ArrayBufferView): Uint8Array {
  const { buffer, byteOffset, byteLength } = bytes;
  const view = new Uint8Array(buffer, byteOffset, byteLength);
  return byteLength === buffer.byteLength ? view : view.slice();
}
