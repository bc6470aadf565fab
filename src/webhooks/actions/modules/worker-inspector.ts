/**
 * Looks into worker threads by the Chrome DevTools Protocol (domain NodeWorker), which interrupts
 * the code that runs there: a thread in an endless loop still tells its stack, and how large its
 * heap is. A thread that waits within the system, for a file or a process, tells nothing.
 *
 * Two ways are closed in which Node 20 and 26 end the whole process as a worker ends:
 * - A session that is opened then walks a list from which the worker goes (SIGSEGV). One session is
 *   attached to each worker thread of the process from its start, and stays.
 * - A message that comes then finds half of an inspector (SIGABRT). Thread and inspector share a
 *   mark (`WorkerMarks.inspector`), by which none is sent once the thread ends.
 */
import type { InspectorNotification, NodeWorker, Session } from 'node:inspector';
import { isJsonObject } from '../../../base/fields.ts';
import { loadInspector } from '../../../base/node-modules.ts';
import type { JsonObject } from '../../../base/schema.ts';

type WorkerMessage = InspectorNotification<NodeWorker.ReceivedMessageFromWorkerEventDataType>;

class WorkersSession {
  /** By thread id, the id of an attached thread within the session. */
  readonly #attachedIds = new Map<number, string>();
  readonly #inspectors = new Map<string, WorkerInspector>();
  readonly #session: Session;

  /** Throws where Node was built without an inspector. */
  constructor() {
    this.#session = new (loadInspector().Session)();
    this.#session.connect();
    // `workerId` only counts attached workers: the title names the thread.
    this.#session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      const threadId = /^\[worker (\d+)\]/.exec(workerInfo.title)?.[1];
      if (threadId !== undefined) this.#attachedIds.set(Number(threadId), sessionId);
    });
    this.#session.on('NodeWorker.detachedFromWorker', ({ params }) => this.#forget(params));
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params }: WorkerMessage) =>
      this.#inspectors.get(params.sessionId)?.receive(params.message));
    this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  }

  /** Connects both and returns the function that sends; null: the thread is not attached. */
  open(threadId: number, inspector: WorkerInspector): ((message: string) => void) | null {
    const sessionId = this.#attachedIds.get(threadId);
    if (sessionId === undefined) return null;
    this.#inspectors.set(sessionId, inspector);
    return (message) =>
      this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
  }

  #forget({ sessionId }: { readonly sessionId: string }): void {
    this.#inspectors.delete(sessionId);
    for (const [threadId, attachedId] of this.#attachedIds) {
      if (attachedId === sessionId) this.#attachedIds.delete(threadId);
    }
  }
}

let workersSession: WorkersSession | null = null;

export class WorkerInspector {
  readonly #calls = new Map<number, (result: JsonObject) => void>();
  readonly #urls = new Map<string, string>();
  readonly #onPaused: ((urls: readonly string[]) => void)[] = [];
  readonly #send: (message: string) => void;
  readonly #mark: Int32Array;
  #isClosed = false;
  #callCount = 0;

  /** Attaches to the threads that start from now on. Throws where Node has no inspector. */
  static attachToWorkers(): void {
    workersSession ??= new WorkersSession();
  }

  /** Throws where the thread is not attached yet, or has ended. */
  constructor(threadId: number, mark: Int32Array) {
    const send = workersSession?.open(threadId, this) ?? null;
    if (send === null) throw new Error(`no worker thread ${threadId} is attached`);
    this.#send = send;
    this.#mark = mark;
  }

  /**
   * Resolves with the URLs of the scripts on the stack, top down. The thread stops until `close`.
   * Never resolves for a thread that waits within the system.
   */
  readStack(): Promise<readonly string[]> {
    const stack = new Promise<readonly string[]>((resolve) => {
      this.#onPaused.push(resolve);
    });
    // A stack may lack the URLs of scripts, which are told at once.
    void this.#call('Debugger.enable');
    void this.#call('Debugger.pause');
    return stack;
  }

  /** Resolves with the bytes of the heap, garbage included. */
  async readHeapBytes(): Promise<number> {
    const { usedSize } = await this.#call('Runtime.getHeapUsage');
    return typeof usedSize === 'number' ? usedSize : 0;
  }

  async collectGarbage(): Promise<void> {
    await this.#call('HeapProfiler.collectGarbage');
  }

  /** Lets the thread go on, as a paused thread cannot be ended. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    void this.#call('Debugger.disable');
    this.#isClosed = true;
  }

  receive(text: string): void {
    const message: unknown = JSON.parse(text);
    if (this.#isClosed || !isJsonObject(message)) return;
    const { id, result, method, params: details } = message;
    if (typeof id === 'number') {
      this.#calls.get(id)?.(isJsonObject(result) ? result : {});
      this.#calls.delete(id);
    }
    if (!isJsonObject(details)) return;
    if (method === 'Debugger.scriptParsed') {
      this.#urls.set(String(details['scriptId']), String(details['url']));
    } else if (method === 'Debugger.paused') {
      const urls = this.#listUrls(details['callFrames']);
      for (const resolve of this.#onPaused.splice(0)) resolve(urls);
    }
  }

  /** Never resolves once the thread ends. */
  #call(method: string): Promise<JsonObject> {
    return new Promise((resolve) => {
      if (this.#isClosed) return;
      if (Atomics.compareExchange(this.#mark, 0, 0, 1) !== 0) return;
      this.#callCount += 1;
      this.#calls.set(this.#callCount, resolve);
      this.#send(JSON.stringify({ id: this.#callCount, method }));
      Atomics.store(this.#mark, 0, 0);
    });
  }

  #listUrls(frames: unknown): string[] {
    if (!Array.isArray(frames)) return [];
    return frames.map((frame: unknown) => {
      const location = isJsonObject(frame) ? frame['location'] : undefined;
      const scriptId = isJsonObject(location) ? String(location['scriptId']) : '';
      return this.#urls.get(scriptId) ?? '';
    });
  }
}
