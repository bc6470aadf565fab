/**
 * What changes, as it changes: `GET /api/stream` read with `fetch`, as EventSource cannot send a
 * token. Reconnects by itself and misses nothing, as far as the server still knows.
 */
import { sendRequest } from './api-calls.ts';

type StreamEvent = {
  /** `request`, `delivery`, `book` */
  readonly name: string;
  readonly change: 'created' | 'updated' | 'deleted';
  readonly record: Readonly<Record<string, unknown>>;
};

type StreamListener = {
  readonly onEvent: (event: StreamEvent) => void;
  /** From now on changes are told, and none from before: read all that is shown. */
  readonly onStart: () => void;
};

const RETRY_MS = 2000;
const RETRY_MS_MAX = 30_000;
/** A stream that is not open by then may be held back on the way: nobody waits longer to see. */
const OPEN_MS_MAX = 1000;

/** A page that is hidden for so long gives its connection back: a browser has six for all tabs. */
const HIDDEN_MS_MAX = 3000;

/** Listens until the function that it returns is called. */
export function listenToChanges(
  topics: string, hook: string, listener: StreamListener,
): () => void {
  const controller = new AbortController();
  void runStream(topics, hook, listener, controller.signal);
  return () => controller.abort();
}

async function runStream(
  topics: string, hook: string, { onEvent, onStart }: StreamListener, signal: AbortSignal,
): Promise<void> {
  let lastEventId = '';
  let delayMs = RETRY_MS;
  let isStarted = false;
  const start = (): void => {
    clearTimeout(timer);
    isStarted = true;
    onStart();
  };
  const timer = setTimeout(start, OPEN_MS_MAX);
  signal.addEventListener('abort', () => clearTimeout(timer));
  const query = new URLSearchParams(hook === '' ? { topics } : { topics, hook });
  while (!signal.aborted) {
    await waitUntilVisible();
    if (signal.aborted) return;
    const connection = createConnection(signal);
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (lastEventId !== '') headers['Last-Event-ID'] = lastEventId;
      const response = await sendRequest('GET', `/api/stream?${query}`,
        { headers, signal: connection.signal });
      if (response.status === 410) {
        lastEventId = '';
        connection.abort();
        continue;
      }
      if (!response.ok || response.body === null) throw new Error(String(response.status));
      delayMs = RETRY_MS;
      // What is read before the stream is open may miss what changes in between.
      if (lastEventId === '') start();
      await readEvents(response.body, (id, name, data) => {
        if (id !== '') lastEventId = id;
        if (data === '') return;
        const { change, ...record } = JSON.parse(data);
        onEvent({ name, change, record });
      });
    } catch {
      if (signal.aborted) return;
      // Without changes as they happen there is still something to be seen.
      if (!isStarted) start();
    }
    const wasLeft = connection.signal.aborted;
    connection.abort();
    // At once, a page that is being left would ask again, and be kept with that connection.
    await new Promise((resolve) => void setTimeout(resolve, wasLeft ? 0 : delayMs));
    if (wasLeft) continue;
    delayMs = Math.min(delayMs * 2, RETRY_MS_MAX);
  }
}

async function waitUntilVisible(): Promise<void> {
  while (document.hidden) {
    await new Promise((resolve) => void document.addEventListener('visibilitychange', resolve,
      { once: true }));
  }
}

/** Is aborted with `signal`, when the page is left, and when it has been hidden for a while. */
function createConnection(signal: AbortSignal): AbortController {
  const connection = new AbortController();
  const options = { signal: connection.signal };
  const abort = (): void => connection.abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener('abort', abort, options);
  addEventListener('pagehide', abort, options);
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(abort, HIDDEN_MS_MAX);
  }, options);
  return connection;
}

/** The lines of an event stream (HTML, section 9.2); an id may come without data. */
async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onEvent: (id: string, name: string, data: string) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let event = { id: '', name: '', data: '' };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, field = '', text = ''] = /^([a-z]*): ?(.*?)\r?$/.exec(line) ?? [];
      if (field === 'id') event.id = text;
      else if (field === 'event') event.name = text;
      else if (field === 'data') event.data += event.data === '' ? text : `\n${text}`;
      else if (line.trim() === '') {
        onEvent(event.id, event.name, event.data);
        event = { id: '', name: '', data: '' };
      }
    }
  }
}
