/**
 * Looks into a worker thread by the Chrome DevTools Protocol (domain NodeWorker), which interrupts
 * the code that runs there: a thread in an endless loop still tells its stack, and how large its
 * heap is. A thread that waits within the system, for a file or a process, tells nothing.
 */
import type { InspectorNotification, NodeWorker, Session } from 'node:inspector';
import { isJsonObject } from '../../../base/fields.ts';
import { loadInspector } from '../../../base/node-modules.ts';
import type { JsonObject } from '../../../base/schema.ts';

export class WorkerInspector {
  readonly #session: Session;
  readonly #calls = new Map<number, (result: JsonObject) => void>();
  /** The URLs of scripts by their ids. */
  readonly #urls = new Map<string, string>();
  readonly #onPaused: ((urls: readonly string[]) => void)[] = [];
  #workerSessionId: string | null = null;
  #callCount = 0;

  /** Throws where Node was built without an inspector, and where the thread has ended. */
  constructor(threadId: number) {
    this.#session = new (loadInspector().Session)();
    this.#session.connect();
    // `workerId` only counts the workers that the session is attached to: the title has the thread.
    const title = `[worker ${threadId}]`;
    this.#session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
      if (workerInfo.title.startsWith(title)) this.#workerSessionId = sessionId;
    });
    this.#session.on('NodeWorker.receivedMessageFromWorker', (message) => this.#receive(message));
    this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    if (this.#workerSessionId !== null) return;
    this.#session.disconnect();
    throw new Error(`there is no worker thread ${threadId}`);
  }

  /**
   * Resolves with the URLs of the scripts on the stack, from the top down. The thread stays where
   * it is until `close`. Never resolves for a thread that waits within the system.
   */
  readStack(): Promise<readonly string[]> {
    const stack = new Promise<readonly string[]>((resolve) => {
      this.#onPaused.push(resolve);
    });
    // The scripts, whose URLs a stack may lack, are told at once.
    void this.#call('Debugger.enable');
    void this.#call('Debugger.pause');
    return stack;
  }

  /** Resolves with the bytes of objects in the heap, garbage included. */
  async readHeapBytes(): Promise<number> {
    const { usedSize } = await this.#call('Runtime.getHeapUsage');
    return typeof usedSize === 'number' ? usedSize : 0;
  }

  async collectGarbage(): Promise<void> {
    await this.#call('HeapProfiler.collectGarbage');
  }

  /** Lets the thread go on; idempotent. A thread that is paused cannot be ended. */
  close(): void {
    const sessionId = this.#workerSessionId;
    if (sessionId === null) return;
    void this.#call('Debugger.disable');
    this.#workerSessionId = null;
    this.#session.post('NodeWorker.detach', { sessionId }, () => this.#session.disconnect());
  }

  #call(method: string): Promise<JsonObject> {
    return new Promise((resolve) => {
      const sessionId = this.#workerSessionId;
      if (sessionId === null) return;
      this.#callCount += 1;
      this.#calls.set(this.#callCount, resolve);
      const message = JSON.stringify({ id: this.#callCount, method });
      this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    });
  }

  #receive(
    { params }: InspectorNotification<NodeWorker.ReceivedMessageFromWorkerEventDataType>,
  ): void {
    if (params.sessionId !== this.#workerSessionId) return;
    const message: unknown = JSON.parse(params.message);
    if (!isJsonObject(message)) return;
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

  #listUrls(frames: unknown): string[] {
    if (!Array.isArray(frames)) return [];
    return frames.map((frame: unknown) => {
      const location = isJsonObject(frame) ? frame['location'] : undefined;
      const scriptId = isJsonObject(location) ? String(location['scriptId']) : '';
      return this.#urls.get(scriptId) ?? '';
    });
  }
}
