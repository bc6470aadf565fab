/**
 * One action worker, from its start to its end: it loads modules, runs their actions, and serves
 * the tools of the runs. When it ends, by itself or because it does not answer or takes too much
 * memory, all that is under way in it has ended. `ActionModules` says what follows from that.
 */
import {
  MessageChannel, Worker, receiveMessageOnPort, type MessagePort,
} from 'node:worker_threads';
import { endsInTime, type Timer } from '../../../base/clock.ts';
import { systemCodeOf } from '../../../base/errors.ts';
import { countThread } from '../../../base/live-threads.ts';
import { createTaggedLogger, formatMessage } from '../../../base/log.ts';
import type { HttpSender } from '../../members/http-sender.ts';
import type { RelayContext } from '../../relay-context.ts';
import type { ActionCall } from '../action-registry.ts';
import { ActionResult } from '../action.ts';
import { sendInChain } from '../chained-request.ts';
import {
  copyBytes, createWorkerProgram, describeThrown, rebuildOutcome, rebuildThrown,
} from './worker-program.ts';
import { WorkerInspector } from './worker-inspector.ts';
import {
  requestKiB, type AliveReport, type CheckReport, type LoadReport, type LogReport, type ModuleRun,
  type RequestReport, type RequestSettlement, type RunReport, type ThrownMessage,
  type WorkerMarks, type WorkerOrder, type WorkerReport, type WorkerSetup,
} from './worker-messages.ts';

export type WorkerEnd = {
  readonly reason: 'blocked' | 'failed' | 'exited' | 'memory' | 'closed';
  /** Lines of a stack trace, or URLs of scripts, top down. */
  readonly stack: readonly string[];
  /** The module whose code was running, or called `process.exit`; null: not known. */
  readonly markedModuleId: number | null;
  readonly error: unknown;
};

type WorkerCall = {
  /** null: the call is a question. */
  readonly action: ActionCall | null;
  /** Gets null when the worker ends first. */
  readonly end: (report: RunReport | LoadReport | CheckReport | null) => void;
  /** The errors of its requests: one that the action throws on is thrown as it was. */
  errors: Map<number, unknown> | null;
};

export const LATE = 'late';
export const STOPPED_MESSAGE = 'The action was stopped';

const ANSWER_MS_MAX = 1000;
const STACK_MS_MAX = 500;
const TERMINATION_MS_MAX = 500;
const MEMORY_CHECK_MS = 50;
/** The garbage of a thread that is busy for longer is not collected before it is judged. */
const BUSY_MS_MAX = 200;
const COLLECTION_MS_MAX = 500;
/** Runs with more bytes do not wait for the end of the turn. */
const RUN_BYTES_MAX = 2 ** 20;
const UNREAD_LINES_MAX = 100;
// The requests of a hundred bodies of a megabyte, or of 8,000 without a body.
const UNANSWERED_KIB_MAX = 131_072;
/**
 * The bytes that one allocation may take beyond the limit before the worker is ended. V8 ends the
 * process, not the thread, when a single array or table does not fit below its own limit.
 */
const ALLOCATION_MIB_MAX = 2048;
const MIB = 2 ** 20;

type ThreadOptions = Pick<RelayContext, 'clock' | 'log'> & {
  readonly memoryMiBMax: number;
  readonly getHttp: () => HttpSender;
  readonly onEnd: (end: WorkerEnd) => void;
};

export class ActionWorkerThread {
  readonly #options: ThreadOptions;
  readonly #marks: WorkerMarks = {
    enteredModule: createMark(), exitingModule: createMark(), unreadLines: createMark(),
    unansweredKiB: createMark(), inspector: createMark(),
  };
  readonly #thread: Worker;
  readonly #port: MessagePort;
  readonly #calls = new Map<number, WorkerCall>();
  #callCount = 0;
  #runs: ModuleRun[] = [];
  #runBytes: Buffer[] = [];
  #runBytesCount = 0;
  readonly #aborts = new Map<number, AbortController>();
  #inspector: WorkerInspector | null = null;
  #memoryTimer: Timer | null = null;
  #isCheckingMemory = false;
  /** By its last answer. */
  #bufferBytes = 0;
  #pingCount = 0;
  readonly #pings = new Map<number, () => void>();
  /** It has to answer, or is ended. */
  #isPinged = false;
  #error: unknown = null;
  /** It is being given up: nothing new begins. */
  #isEnding = false;
  #end: WorkerEnd | null = null;
  readonly ended: Promise<void>;
  #resolveEnded = (): void => {};

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const setup: WorkerSetup = {
      port: port2, writesDebug: options.log.isWritten?.('debug') !== false, marks: this.#marks,
      unreadLinesMax: UNREAD_LINES_MAX, unansweredKiBMax: UNANSWERED_KIB_MAX,
    };
    try {
      WorkerInspector.attachToWorkers();
    } catch {
      // Without an inspector only the limit of V8 holds, and no stack is taken.
    }
    this.#thread = new Worker(createWorkerProgram(), {
      eval: true, workerData: setup, transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: options.memoryMiBMax + ALLOCATION_MIB_MAX },
    });
    this.#thread.unref();
    countThread(this.#thread);
    port1.on('message', (report: WorkerReport) => this.#receive(report));
    // The thread alone keeps the process from ending.
    port1.unref();
    this.#thread.on('message', () =>
      this.#endByMessage(new Error('a message that is none of hookshelf\'s own')));
    this.#thread.on('messageerror', (error) => this.#endByMessage(error));
    this.#thread.on('error', (thrown) => {
      this.#error = thrown;
    });
    this.#thread.on('exit', () => this.#onExit());
  }

  get end(): WorkerEnd | null {
    return this.#end;
  }

  get isUsable(): boolean {
    return this.#end === null && !this.#isEnding;
  }

  /** Resolves with the result, a failure if the worker ends first; rejects with a thrown value. */
  run(moduleId: number, action: ActionCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call: WorkerCall = {
        action, errors: null,
        end: (report) => {
          if (report === null || !('outcome' in report)) {
            resolve(ActionResult.fail(STOPPED_MESSAGE));
          } else if (report.thrown === null) resolve(rebuildOutcome(report.outcome));
          else reject(restoreThrown(report.thrown, call.errors));
        },
      };
      if (this.#end !== null) return call.end(null);
      const callId = this.#makeCallId();
      const run = this.#createRun(callId, moduleId, action);
      this.#add(callId, call);
      if (this.#runs.push(run) === 1) setImmediate(this.#sendRuns);
      if (this.#runBytesCount > RUN_BYTES_MAX) this.#sendRuns();
    });
  }

  /** Resolves with null when the worker ends first, with `LATE`, and pings, when it is late. */
  async ask(
    createOrder: (callId: number) => WorkerOrder, timeoutMs: number,
  ): Promise<LoadReport | CheckReport | null | typeof LATE> {
    if (this.#end !== null) return null;
    const callId = this.#makeCallId();
    const answer = new Promise<LoadReport | CheckReport | null>((resolve) => this.#add(callId, {
      action: null, errors: null,
      end: (report) => resolve(report !== null && 'report' in report ? report : null),
    }));
    this.#send(createOrder(callId));
    if (await endsInTime(this.#options.clock, timeoutMs, answer)) return answer;
    this.#delete(callId);
    void this.ping();
    return LATE;
  }

  /** Forgets a run that nobody waits for, which may never end, and pings the worker. */
  giveUp(action: ActionCall): void {
    for (const [callId, call] of this.#calls) if (call.action === action) this.#delete(callId);
    void this.ping();
  }

  #makeCallId(): number {
    this.#callCount += 1;
    return this.#callCount;
  }

  #add(callId: number, call: WorkerCall): void {
    if (this.#calls.size === 0) this.#thread.ref();
    this.#calls.set(callId, call);
    this.#watchMemory();
  }

  /** The process may end when no call is under way. */
  #delete(callId: number): void {
    if (this.#calls.delete(callId) && this.#calls.size === 0) this.#thread.unref();
  }

  #createRun(callId: number, moduleId: number, action: ActionCall): ModuleRun {
    const { context, options, hops, trace, log } = action;
    const { body } = context;
    const json = action.payloadJson();
    const logTags = log.readTags?.() ?? {};
    this.#addRunBytes(body);
    // The payload mostly is the body, which is copied once.
    if (json !== null && json !== body) this.#addRunBytes(json);
    return {
      callId, moduleId, options, hops, trace, logTags,
      context: { ...context, body: undefined }, bodyLength: body.length,
      payload: json === body ? 'body' : json?.length ?? null,
    };
  }

  #addRunBytes(bytes: Buffer): void {
    this.#runBytes.push(bytes);
    this.#runBytesCount += bytes.length;
  }

  readonly #sendRuns = (): void => {
    if (this.#runs.length === 0) return;
    const bytes = new Uint8Array(this.#runBytesCount);
    let end = 0;
    for (const piece of this.#runBytes) {
      bytes.set(piece, end);
      end += piece.length;
    }
    const runs = JSON.stringify(this.#runs);
    this.#runs = [];
    this.#runBytes = [];
    this.#runBytesCount = 0;
    const order: WorkerOrder = { order: 'run', runs, bytes };
    if (this.#end === null) this.#port.postMessage(order, [bytes.buffer]);
  };

  /** Sends an order behind the runs that began before it. */
  #send(order: WorkerOrder): void {
    this.#sendRuns();
    this.#port.postMessage(order);
  }

  /** Ends the worker unless it answers within a second. */
  async ping(): Promise<void> {
    if (!this.isUsable || this.#isPinged) return;
    this.#isPinged = true;
    if (!await this.#answersIn(ANSWER_MS_MAX)) await this.endWithStack('blocked');
    this.#isPinged = false;
  }

  /** Also true when the worker ends meanwhile. */
  async #answersIn(ms: number): Promise<boolean> {
    const pingId = this.#sendPing();
    const answer = new Promise<void>((resolve) => {
      this.#pings.set(pingId, resolve);
    });
    if (await endsInTime(this.#options.clock, ms, answer)) return true;
    // The answer may be here, not read by this thread yet.
    await new Promise(setImmediate);
    return !this.#pings.delete(pingId);
  }

  /** Returns the number of the answer. Only an answer counts: endless loops log and send, too. */
  #sendPing(): number {
    this.#pingCount += 1;
    this.#send({ order: 'ping', pingId: this.#pingCount });
    return this.#pingCount;
  }

  #onAlive({ pingId, bufferBytes }: AliveReport): void {
    this.#bufferBytes = bufferBytes;
    this.#pings.get(pingId)?.();
    this.#pings.delete(pingId);
  }

  async endWithStack(reason: WorkerEnd['reason']): Promise<void> {
    if (!this.isUsable) return;
    this.#isEnding = true;
    const stack = await this.#takeStack();
    const markedModuleId = readModuleMark(this.#marks.enteredModule);
    this.#finish({ reason, stack, markedModuleId, error: null });
    void this.#terminate();
  }

  /** Idempotent. Resolves when the thread has ended, or hangs in the system. */
  async close(): Promise<void> {
    this.#finish({ reason: 'closed', stack: [], markedModuleId: null, error: null });
    await this.#terminate();
  }

  async #terminate(): Promise<void> {
    this.#inspector?.close();
    this.#inspector = null;
    const { clock, log } = this.#options;
    if (await endsInTime(clock, TERMINATION_MS_MAX, this.#thread.terminate())) return;
    log.error('a thread of the action modules cannot be ended while it waits within the system');
    // `terminate` makes this process wait for it.
    this.#thread.unref();
  }

  #onExit(): void {
    // The last reports may not be read yet.
    let last = receiveMessageOnPort(this.#port);
    for (; last !== undefined; last = receiveMessageOnPort(this.#port)) this.#receive(last.message);
    this.#port.close();
    const error = this.#error;
    const reason = systemCodeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory'
      : error === null ? 'exited' : 'failed';
    const text = typeof error === 'object' && error !== null && 'stack' in error
      ? String(error.stack) : '';
    const { enteredModule, exitingModule } = this.#marks;
    this.#finish({
      reason, error, stack: reason === 'memory' ? [] : text.split('\n'),
      markedModuleId: readModuleMark(reason === 'exited' ? exitingModule : enteredModule),
    });
  }

  #finish(end: WorkerEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    for (const answer of this.#pings.values()) answer();
    this.#pings.clear();
    this.#memoryTimer?.cancel();
    this.#inspector?.close();
    this.#inspector = null;
    for (const abort of this.#aborts.values()) abort.abort();
    for (const call of this.#calls.values()) call.end(null);
    this.#calls.clear();
    this.#thread.unref();
    this.#options.onEnd(end);
    this.#resolveEnded();
  }

  #receive(report: WorkerReport): void {
    if (report.report === 'log') Atomics.sub(this.#marks.unreadLines, 0, 1);
    if (this.#end !== null) return;
    try {
      this.#follow(report);
    } catch (thrown) {
      this.#endByMessage(thrown);
    }
  }

  #follow(report: WorkerReport): void {
    switch (report.report) {
      case 'loaded': case 'validated': return this.#endCall(report);
      case 'ended':
        for (const run of JSON.parse(report.runs) as readonly RunReport[]) {
          this.#endCall(run);
        }
        return;
      case 'log': return this.#logLine(report);
      case 'request': return void this.#serveRequest(report);
      case 'abort': return this.#aborts.get(report.requestId)?.abort();
      case 'alive': return this.#onAlive(report);
    }
  }

  #endByMessage(error: unknown): void {
    if (this.#end !== null) return;
    const markedModuleId = readModuleMark(this.#marks.enteredModule);
    this.#finish({ reason: 'failed', stack: [], markedModuleId, error });
    void this.#terminate();
  }

  /** An action may log, or send a request, after it has returned its result. */
  #logLine({ callId, logTags, level, message, thrownMessage, fields, errors }: LogReport): void {
    const log = this.#calls.get(callId)?.action?.log
      ?? createTaggedLogger(this.#options.log, logTags);
    const errorFields = Object.entries(errors).map(([name, thrown]) =>
      [name, rebuildThrown(thrown)]);
    const value = thrownMessage === null ? message : rebuildThrown(thrownMessage);
    log[level](formatMessage(value), { ...fields, ...Object.fromEntries(errorFields) });
  }

  async #serveRequest({ callId, requestId, hops, trace, request }: RequestReport): Promise<void> {
    const call = this.#calls.get(callId);
    const abort = new AbortController();
    this.#aborts.set(requestId, abort);
    let settlement: RequestSettlement;
    try {
      const { statusCode, headers, body } = await sendInChain(this.#options.getHttp(),
        call?.action ?? { hops, trace, isChainRefused: false },
        { ...request, signal: abort.signal });
      settlement = { response: { statusCode, headers, body: copyBytes(body) } };
    } catch (thrown) {
      if (call !== undefined) (call.errors ??= new Map()).set(requestId, thrown);
      settlement = { thrown: describeThrown(thrown, null) };
    }
    this.#aborts.delete(requestId);
    Atomics.sub(this.#marks.unansweredKiB, 0, requestKiB(request.body));
    if (this.#end === null) this.#send({ order: 'respond', requestId, ...settlement });
  }

  #endCall(report: RunReport | LoadReport | CheckReport): void {
    const call = this.#calls.get(report.callId);
    this.#delete(report.callId);
    call?.end(report);
  }

  async #takeStack(): Promise<readonly string[]> {
    let stack: readonly string[] = [];
    try {
      const reading = this.#inspect().readStack().then((urls) => {
        stack = urls;
      });
      await endsInTime(this.#options.clock, STACK_MS_MAX, reading);
    } catch {
      // Without an inspector only the mark tells the module.
    }
    return stack;
  }

  #inspect(): WorkerInspector {
    this.#inspector ??= new WorkerInspector(this.#thread.threadId, this.#marks.inspector);
    return this.#inspector;
  }

  #watchMemory(): void {
    if (this.#memoryTimer !== null || this.#isCheckingMemory) return;
    this.#memoryTimer =
      this.#options.clock.startTimer(MEMORY_CHECK_MS, () => void this.#checkMemory());
  }

  async #checkMemory(): Promise<void> {
    this.#memoryTimer = null;
    if (!this.isUsable) return;
    this.#isCheckingMemory = true;
    try {
      if (await this.#isMemoryTooLarge()) return void this.endWithStack('memory');
    } catch {
      // Without an inspector the limit of V8 is the only one.
    } finally {
      this.#isCheckingMemory = false;
    }
    if (this.#calls.size > 0 && this.isUsable) this.#watchMemory();
  }

  /** Judges at the first look above the limit, after a collection of garbage if possible. */
  async #isMemoryTooLarge(): Promise<boolean> {
    const inspector = this.#inspect();
    const bytesMax = this.#options.memoryMiBMax * MIB;
    // The answer of a busy thread is there at the next look.
    this.#sendPing();
    if (await inspector.readHeapBytes() + this.#bufferBytes <= bytesMax) return false;
    if (!await this.#answersIn(BUSY_MS_MAX)) return true;
    const { clock } = this.#options;
    if (!await endsInTime(clock, COLLECTION_MS_MAX, inspector.collectGarbage())) return true;
    if (!await this.#answersIn(COLLECTION_MS_MAX)) return true;
    return await inspector.readHeapBytes() + this.#bufferBytes > bytesMax;
  }
}

/** The error that the action threw, as it was in this thread. */
function restoreThrown(thrown: ThrownMessage, errors: WorkerCall['errors']): unknown {
  const { requestId } = thrown;
  return requestId !== null && errors?.has(requestId) === true ? errors.get(requestId)
    : rebuildThrown(thrown);
}

function createMark(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

function readModuleMark(mark: Int32Array): number | null {
  const value = Atomics.load(mark, 0);
  return value === 0 ? null : value - 1;
}
