/**
 * One action worker, from its start to its end: it loads modules, has them make calls, and serves
 * the tools of the runs. When it ends, by itself or because it does not answer or takes too much
 * memory, all that is under way in it has ended. `ActionModules` says what follows from that.
 */
import type { TraceContext } from '../../../base/trace-context.ts';
import { Worker } from 'node:worker_threads';
import { endsInTime, type Clock, type Timer } from '../../../base/clock.ts';
import { systemCodeOf } from '../../../base/errors.ts';
import { countThread } from '../../../base/live-threads.ts';
import type { LogFields, Logger } from '../../../base/log.ts';
import { createWorkerProgram } from './action-worker.ts';
import type { CallTools } from './call-tools.ts';
import { WorkerInspector } from './worker-inspector.ts';
import { isWorkerReport, requestKiB } from './worker-messages.ts';
import type {
  AliveReport, CheckReport, LoadReport, LogReport, RequestReport, RunReport, WorkerMarks,
  WorkerOrder, WorkerReport, WorkerSetup,
} from './worker-messages.ts';

/** How a worker ended, and what tells whose fault it was. */
export type WorkerEnd = {
  readonly reason: 'blocked' | 'failed' | 'exited' | 'memory' | 'closed';
  /** Lines of a stack trace, or URLs of scripts, from the top down. */
  readonly stack: readonly string[];
  /** The module whose code was running, or had the process exit; null: not known. */
  readonly markedModuleId: number | null;
  /** What was thrown late; null: nothing. */
  readonly error: unknown;
};

/** What ends a call. */
export type CallReport = LoadReport | CheckReport | RunReport;
/** A call that the worker makes; `end` gets null when the worker ends before the call. */
type WorkerCall = {
  readonly end: (report: CallReport | null) => void;
  readonly tools: CallTools | null;
};

const ANSWER_MS_MAX = 1000;
const STACK_MS_MAX = 500;
const TERMINATION_MS_MAX = 500;
const MEMORY_CHECK_MS = 50;
/** A thread that is busy for longer cannot have its garbage collected before it is judged. */
const BUSY_MS_MAX = 200;
const COLLECTION_MS_MAX = 500;
const LATE_TOOLS_MAX = 1000;
const UNREAD_LINES_MAX = 100;
// As many as a hundred bodies of a megabyte, or 8,000 without one.
const UNANSWERED_KIB_MAX = 131_072;
/**
 * What one allocation may take beyond the limit before the worker is ended. V8 ends the process,
 * and not the thread, when a single array or table does not fit below its own limit.
 */
const ALLOCATION_MIB_MAX = 2048;
const MIB = 2 ** 20;

/** What the worker knows of a call that has ended here. */
type StrayCall = {
  readonly hops: number; readonly trace: TraceContext | null; readonly logTags: LogFields;
};

type ActionWorkerThreadDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly memoryMiBMax: number;
  /** The tools of a call that has ended, or is late and forgotten. */
  readonly createStrayTools: (call: StrayCall) => CallTools;
  /** Called once, as soon as it is known how the worker ended. */
  readonly onEnd: (end: WorkerEnd) => void;
};

export class ActionWorkerThread {
  readonly #deps: ActionWorkerThreadDeps;
  readonly #marks: WorkerMarks = {
    enteredModule: createMark(), exitingModule: createMark(), unreadLines: createMark(),
    unansweredKiB: createMark(), inspector: createMark(),
  };
  readonly #thread: Worker;
  readonly #calls = new Map<number, WorkerCall>();
  /** The tools of late calls, the oldest first. */
  readonly #lateTools = new Map<number, CallTools>();
  #callCount = 0;
  #inspector: WorkerInspector | null = null;
  #answerTimer: Timer | null = null;
  #memoryTimer: Timer | null = null;
  #isCheckingMemory = false;
  /** The bytes of its buffers, by its last answer. */
  #bufferBytes = 0;
  #pingCount = 0;
  /** The ping that the answer timer is for. */
  #awaitedPingId = 0;
  #onAnswer = (_pingId: number): void => {};
  #error: unknown = null;
  /** It is being given up, and nothing new begins in it. */
  #isEnding = false;
  #end: WorkerEnd | null = null;
  /** Resolves when it is known how the worker ended. */
  readonly ended: Promise<void>;
  #resolveEnded = (): void => {};

  constructor(deps: ActionWorkerThreadDeps) {
    this.#deps = deps;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    const setup: WorkerSetup = {
      writesDebug: deps.log.isWritten?.('debug') !== false, marks: this.#marks,
      unreadLinesMax: UNREAD_LINES_MAX, unansweredKiBMax: UNANSWERED_KIB_MAX,
    };
    try {
      WorkerInspector.attachToWorkers();
    } catch {
      // Without an inspector the heap has the limit of V8 alone, and no stack is taken.
    }
    this.#thread = new Worker(createWorkerProgram(), {
      eval: true, workerData: setup,
      resourceLimits: { maxOldGenerationSizeMb: deps.memoryMiBMax + ALLOCATION_MIB_MAX },
    });
    this.#thread.unref();
    countThread(this.#thread);
    this.#thread.on('message', (report: unknown) => this.#receive(report));
    this.#thread.on('messageerror', (error) => this.#endByMessage(error));
    this.#thread.on('error', (thrown) => {
      this.#error = thrown;
    });
    this.#thread.on('exit', () => this.#onExit());
  }

  /** How it ended; null: it has not. */
  get end(): WorkerEnd | null {
    return this.#end;
  }

  /** False from the moment on at which it is given up. */
  get isUsable(): boolean {
    return this.#end === null && !this.#isEnding;
  }

  /**
   * Has the worker do what the order says, once. `onEnd` gets its report, or null when the worker
   * ends before, or has ended: then at once. Returns the number of the call.
   */
  call(
    createOrder: (callId: number) => WorkerOrder, onEnd: WorkerCall['end'],
    tools: CallTools | null = null,
  ): number {
    this.#callCount += 1;
    const callId = this.#callCount;
    if (this.#end !== null) {
      onEnd(null);
      return callId;
    }
    // Before anything of it is noted: an order that cannot be copied throws.
    this.#thread.postMessage(createOrder(callId));
    if (this.#calls.size === 0) this.#thread.ref();
    this.#calls.set(callId, { end: onEnd, tools });
    this.#watchMemory();
    return callId;
  }

  /** Forgets a call that nobody waits for any more, and that may never end; pings the worker. */
  giveUpCall(callId: number): void {
    const { tools = null } = this.#calls.get(callId) ?? {};
    this.#deleteCall(callId);
    if (tools !== null) {
      tools.forgetRequest();
      this.#lateTools.set(callId, tools);
      const [oldestId] = this.#lateTools.keys();
      if (this.#lateTools.size > LATE_TOOLS_MAX && oldestId !== undefined) {
        this.#lateTools.delete(oldestId);
      }
    }
    this.ping();
  }

  /** Ends the worker unless it answers within a second. */
  ping(): void {
    if (!this.isUsable || this.#answerTimer !== null) return;
    const pingId = this.#sendPing();
    this.#awaitedPingId = pingId;
    this.#answerTimer = this.#deps.clock.startTimer(ANSWER_MS_MAX, () => {
      // The answer may be here, and this thread has not come to read it; a later ping has its own.
      setImmediate(() => {
        const isAwaited = this.#answerTimer !== null && this.#awaitedPingId === pingId;
        if (isAwaited) void this.endWithStack('blocked');
      });
    });
  }

  /** Returns the number of the answer. Nothing else is one: endless loops log and send, too. */
  #sendPing(): number {
    this.#pingCount += 1;
    this.#thread.postMessage({ order: 'ping', pingId: this.#pingCount } satisfies WorkerOrder);
    return this.#pingCount;
  }

  #onAlive({ pingId, bufferBytes }: AliveReport): void {
    this.#bufferBytes = bufferBytes;
    this.#onAnswer(pingId);
    if (pingId < this.#awaitedPingId) return;
    this.#answerTimer?.cancel();
    this.#answerTimer = null;
  }

  /** Ends the worker, once its stack has been taken if that is possible. */
  async endWithStack(reason: WorkerEnd['reason']): Promise<void> {
    if (!this.isUsable) return;
    this.#isEnding = true;
    const stack = await this.#takeStack();
    const markedModuleId = readModuleMark(this.#marks.enteredModule);
    this.#finish({ reason, stack, markedModuleId, error: null });
    void this.#terminate();
  }

  /** Ends the worker; idempotent. Resolves when the thread has ended, or hangs in the system. */
  async close(): Promise<void> {
    this.#finish({ reason: 'closed', stack: [], markedModuleId: null, error: null });
    await this.#terminate();
  }

  async #terminate(): Promise<void> {
    this.#inspector?.close();
    this.#inspector = null;
    const { clock, log } = this.#deps;
    if (await endsInTime(clock, TERMINATION_MS_MAX, this.#thread.terminate())) return;
    log.error('a thread of the action modules cannot be ended while it waits within the system');
    // `terminate` has this process wait for it.
    this.#thread.unref();
  }

  #onExit(): void {
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
    this.#answerTimer?.cancel();
    this.#memoryTimer?.cancel();
    this.#inspector?.close();
    this.#inspector = null;
    for (const { end: endCall, tools } of this.#calls.values()) {
      tools?.abortAll();
      endCall(null);
    }
    for (const tools of this.#lateTools.values()) tools.abortAll();
    this.#calls.clear();
    this.#lateTools.clear();
    this.#thread.unref();
    this.#deps.onEnd(end);
    this.#resolveEnded();
  }

  /** A module can send what it likes: what is no report ends the worker. */
  #receive(report: unknown): void {
    if (!isWorkerReport(report)) {
      return this.#endByMessage(new Error('a message that is none of hookshelf\'s own'));
    }
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
      case 'loaded': case 'validated': case 'ended': return this.#endCall(report);
      case 'log': return this.#logLine(report);
      case 'request': return void this.#serveRequest(report);
      case 'abort': return this.#abortRequest(report.requestId);
      case 'alive': return this.#onAlive(report);
    }
  }

  #endByMessage(error: unknown): void {
    if (this.#end !== null) return;
    const markedModuleId = readModuleMark(this.#marks.enteredModule);
    this.#finish({ reason: 'failed', stack: [], markedModuleId, error });
    void this.#terminate();
  }

  #logLine(report: LogReport): void {
    const { callId, logTags } = report;
    this.#findTools(callId, { hops: 0, trace: null, logTags }).log(report);
  }

  async #serveRequest(report: RequestReport): Promise<void> {
    const { callId, requestId, hops, trace } = report;
    const end = await this.#findTools(callId, { hops, trace, logTags: {} }).request(report);
    Atomics.sub(this.#marks.unansweredKiB, 0, requestKiB(report.request.body));
    if (this.#end !== null) return;
    this.#thread.postMessage({ order: 'respond', requestId, ...end } satisfies WorkerOrder);
  }

  #abortRequest(requestId: number): void {
    for (const { tools } of this.#calls.values()) tools?.abort(requestId);
    for (const tools of this.#lateTools.values()) tools.abort(requestId);
  }

  /** An action may log, or send a request, after it has returned its result. */
  #findTools(callId: number, call: StrayCall): CallTools {
    return this.#calls.get(callId)?.tools ?? this.#lateTools.get(callId)
      ?? this.#deps.createStrayTools(call);
  }

  #endCall(report: CallReport): void {
    const { callId } = report;
    const call = this.#calls.get(callId);
    this.#deleteCall(callId);
    this.#lateTools.delete(callId);
    try {
      call?.end(report);
    } catch (thrown) {
      call?.end(null);
      throw thrown;
    }
  }

  /** The process may end, like any other, when no call is under way. */
  #deleteCall(callId: number): void {
    if (this.#calls.delete(callId) && this.#calls.size === 0) this.#thread.unref();
  }

  async #takeStack(): Promise<readonly string[]> {
    let stack: readonly string[] = [];
    try {
      const reading = this.#inspect().readStack().then((urls) => {
        stack = urls;
      });
      await endsInTime(this.#deps.clock, STACK_MS_MAX, reading);
    } catch {
      // Without an inspector only the mark tells the module.
    }
    return stack;
  }

  #inspect(): WorkerInspector {
    this.#inspector ??= new WorkerInspector(this.#thread.threadId, this.#marks.inspector);
    return this.#inspector;
  }

  /** Looks at the memory as long as calls are under way. */
  #watchMemory(): void {
    if (this.#memoryTimer !== null || this.#isCheckingMemory) return;
    this.#memoryTimer =
      this.#deps.clock.startTimer(MEMORY_CHECK_MS, () => void this.#checkMemory());
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

  /** Judges at the first look above, once garbage is collected where that is possible. */
  async #isMemoryTooLarge(): Promise<boolean> {
    const inspector = this.#inspect();
    const bytesMax = this.#deps.memoryMiBMax * MIB;
    // The answer, which a busy thread owes, is there at the next look.
    this.#sendPing();
    if (await inspector.readHeapBytes() + this.#bufferBytes <= bytesMax) return false;
    if (!await this.#answersIn(BUSY_MS_MAX)) return true;
    const { clock } = this.#deps;
    if (!await endsInTime(clock, COLLECTION_MS_MAX, inspector.collectGarbage())) return true;
    if (!await this.#answersIn(COLLECTION_MS_MAX)) return true;
    return await inspector.readHeapBytes() + this.#bufferBytes > bytesMax;
  }

  #answersIn(ms: number): Promise<boolean> {
    const ownPingId = this.#sendPing();
    const answer = new Promise<void>((resolve) => {
      this.#onAnswer = (pingId) => {
        if (pingId >= ownPingId) resolve();
      };
    });
    return endsInTime(this.#deps.clock, ms, answer);
  }
}

function createMark(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** The number of the module; null: none is marked. */
function readModuleMark(mark: Int32Array): number | null {
  const value = Atomics.load(mark, 0);
  return value === 0 ? null : value - 1;
}
