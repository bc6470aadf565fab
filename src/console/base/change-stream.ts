/**
 * Listens to changes of records: reads `GET /api/stream` with `fetch`, as EventSource cannot send a
 * token. Reconnects by itself and misses no change that the server still remembers.
 */
import { parseJson } from './json-text.ts';
import { sendRequest } from './api-calls.ts';
import { readLines } from './file-transfer.ts';

type StreamEvent = {
  /** The kind of record: `request`, `delivery` or `book`. */
  readonly name: string;
  readonly change: 'created' | 'updated' | 'deleted';
  readonly record: Readonly<Record<string, unknown>>;
};

type StreamData = Pick<StreamEvent, 'change'> & Readonly<Record<string, unknown>>;

type StreamListener = {
  readonly onEvent: (event: StreamEvent) => void;
  /** The stream starts here, without earlier changes: the listener must read its records now. */
  readonly onStart: () => void;
};

const RETRY_MS = 2000;
const RETRY_MS_MAX = 30_000;
/** A proxy may hold the stream back: after this time the screen is shown without it. */
const OPEN_MS_MAX = 1000;

/**
 * A page that is hidden for so long closes its connection: a browser opens six at most to a host,
 * for all tabs together.
 */
const HIDDEN_MS_MAX = 3000;

/** Events come in numbers: what they change is read again at most so often. */
const CHANGED_MS = 500;

/** Calls `refresh` soon after a record of the webhook `hook` has changed, which `topic` tells. */
export function refreshOnChanges(topic: string, hook: string, refresh: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = listenToChanges(topic, {
    onEvent({ record }) {
      if (record['hook'] !== hook) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        refresh();
      }, CHANGED_MS);
    },
    onStart() {},
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}

export function listenToChanges(topic: string, listener: StreamListener): () => void {
  const controller = new AbortController();
  void runStream(topic, listener, controller.signal);
  return () => controller.abort();
}

async function runStream(
  topic: string, { onEvent, onStart }: StreamListener, signal: AbortSignal,
): Promise<void> {
  let lastEventId = '';
  let delayMs = RETRY_MS;
  let isStarted = false;
  // Called by the timer, and again by a stream that opens later: records are read both times.
  const start = (): void => {
    clearTimeout(timer);
    isStarted = true;
    onStart();
  };
  const timer = setTimeout(start, OPEN_MS_MAX);
  signal.addEventListener('abort', () => clearTimeout(timer));
  while (!signal.aborted) {
    await waitUntilVisible();
    if (signal.aborted) return;
    const controller = createConnectionController(signal);
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (lastEventId !== '') headers['Last-Event-ID'] = lastEventId;
      const response = await sendRequest('GET', `/api/stream?topics=${topic}`,
        { headers, signal: controller.signal });
      // The server does not remember the last event any more: the stream starts again.
      if (response.status === 410) {
        lastEventId = '';
        controller.abort();
        continue;
      }
      if (!response.ok) throw new Error(String(response.status));
      delayMs = RETRY_MS;
      // Not earlier: records read before the stream is open would miss changes in between.
      if (lastEventId === '') start();
      await readEvents(response, (id, name, data) => {
        if (id !== '') lastEventId = id;
        if (data === '') return;
        const { change, ...record } = parseJson<StreamData>(data);
        onEvent({ name, change, record });
      });
    } catch {
      if (signal.aborted) return;
      // The screen is useful without live changes, too.
      if (!isStarted) start();
    }
    // The page was left or hidden: nothing has failed, so there is no delay.
    const isPageAway = controller.signal.aborted;
    controller.abort();
    // Not synchronously: a page that is being left would reconnect, and stay alive by that.
    await new Promise((resolve) => void setTimeout(resolve, isPageAway ? 0 : delayMs));
    if (isPageAway) continue;
    delayMs = Math.min(delayMs * 2, RETRY_MS_MAX);
  }
}

async function waitUntilVisible(): Promise<void> {
  while (document.hidden) {
    await new Promise((resolve) => void document.addEventListener('visibilitychange', resolve,
      { once: true }));
  }
}

/**
 * The controller of one connection: it is aborted with `signal`, when the page is left, and when it
 * was hidden for HIDDEN_MS_MAX.
 */
function createConnectionController(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const abort = (): void => controller.abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener('abort', abort, options);
  addEventListener('pagehide', abort, options);
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(abort, HIDDEN_MS_MAX);
  }, options);
  return controller;
}

/** Parses an event stream (HTML Living Standard §9.2); an id may come without data. */
function readEvents(
  response: Response, onEvent: (id: string, name: string, data: string) => void,
): Promise<void> {
  let event = { id: '', name: '', data: '' };
  return readLines(response, (line) => {
    const [, field = '', text = ''] = /^([a-z]*): ?(.*?)\r?$/.exec(line) ?? [];
    if (field === 'id') event.id = text;
    else if (field === 'event') event.name = text;
    else if (field === 'data') event.data += event.data === '' ? text : `\n${text}`;
    else if (line.trim() === '') {
      onEvent(event.id, event.name, event.data);
      event = { id: '', name: '', data: '' };
    }
    return true;
  });
}
