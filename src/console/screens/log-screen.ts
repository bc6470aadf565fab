/** The screen of the log: the last lines, and new ones as they are written. */
import { appendQuery, href, type ScreenAddress } from '../base/screen-address.ts';
import { LatestCall, getJson } from '../base/api-calls.ts';
import { fill, h, type Child } from '../base/dom.ts';
import { findWebhookScreen, loadWebhookLabels } from '../base/webhook-labels.ts';
import { formatQuantity, formatTimestamp, formatValue } from '../base/format.ts';
import { badge } from '../parts/badge.ts';
import { heading } from '../parts/screen.ts';
import { FilterForm } from '../parts/lists/filter-form.ts';
import { showFailureIn, showFailureNotice } from '../parts/notice.ts';
import type { NumberedLine } from '../../monitoring/log-lines.ts';

const REFRESH_MS = 2000;
const LINES_MAX = 1000;
const CHARACTERS_MAX = 2000;
const timeFormat = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3,
});

export function openLogScreen(container: HTMLElement, { query }: ScreenAddress): () => void {
  const list = h('ol.log', { 'aria-label': 'Lines of the log, newest first' });
  const status = h('p.count', { role: 'status' });
  /** null while all lines are fetched, and, where that failed, until Retry: nothing is polled. */
  let lastNumber: number | null = null;
  let isPaused = false;
  let areLabelsLoaded = false;
  const call = new LatestCall();
  const pause = h('button', { 'aria-pressed': 'false', onclick: () => {
    isPaused = !isPaused;
    pause.setAttribute('aria-pressed', String(isPaused));
    updateCount(0);
    void readNew();
  } }, 'Pause');
  const filters = createFilters(query, () => void readAll());

  function read(): Promise<readonly NumberedLine[]> {
    const after = lastNumber === null ? '' : String(lastNumber);
    return getJson(appendQuery('/api/log', { ...filters.readQuery(), after }), call.signal);
  }

  async function readAll(): Promise<void> {
    const signal = call.begin();
    lastNumber = null;
    try {
      const [lines] =
        await Promise.all([read(), areLabelsLoaded ? undefined : loadWebhookLabels()]);
      areLabelsLoaded = true;
      fill(list);
      show(lines);
    } catch (thrown) {
      if (!signal.aborted) showFailureIn(list, thrown, () => void readAll());
    }
  }

  async function readNew(): Promise<void> {
    if (document.hidden || lastNumber === null) return;
    const { signal } = call;
    const after = lastNumber;
    try {
      const lines = await read();
      // Two requests were running, and the other response came first.
      if (after !== lastNumber) return;
      if (isPaused) updateCount(lines.length);
      else show(lines);
    } catch (thrown) {
      if (!signal.aborted) showFailureNotice(thrown);
    }
  }

  function show(lines: readonly NumberedLine[]): void {
    lastNumber = lines.at(-1)?.number ?? lastNumber ?? 0;
    prependLines(list, lines);
    updateCount(0);
  }

  /** `newCount`: lines written since the pause began; 0 until the next `readNew` has them. */
  function updateCount(newCount: number): void {
    const pauseNote = isPaused ? `; paused, ${newCount} new meanwhile` : '';
    status.textContent = formatLineCount(list) + pauseNote;
  }

  fill(container, heading('Log', pause), filters.element, status, list);
  void readAll();
  const timer = setInterval(() => void readNew(), REFRESH_MS);
  return () => {
    clearInterval(timer);
    call.abort();
  };
}

function formatLineCount({ childElementCount }: HTMLElement): string {
  return childElementCount === 0 ? 'No line matches.' : formatQuantity(childElementCount, 'line');
}

function createFilters(query: ScreenAddress['query'], onChange: () => void): FilterForm {
  return new FilterForm([
    { name: 'level', label: 'Level', values: ['error', 'warning', 'info', 'debug'],
      formatLabel: (level) => level === 'error' ? level : `${level} and graver` },
    { name: 'requestId', label: 'Request id' },
  ], query, onChange);
}

/** Puts the lines, oldest first, before those in the list, which keeps the newest `LINES_MAX`. */
function prependLines(list: HTMLElement, lines: readonly NumberedLine[]): void {
  const heightBefore = document.documentElement.scrollHeight;
  list.prepend(...lines.toReversed().map(renderLine));
  // A user who has scrolled down keeps seeing the same lines.
  if (scrollY > list.offsetTop) scrollBy(0, document.documentElement.scrollHeight - heightBefore);
  while (list.childElementCount > LINES_MAX) list.lastElementChild?.remove();
}

function renderLine({ time, level, message, fields }: NumberedLine): HTMLElement {
  const members = Object.entries(fields).map(([name, value]) => h('div', h('dt', name),
    h('dd', renderValue(name, value))));
  const at = timeFormat.format(Date.parse(time));
  return h('li', h('time', { datetime: time, title: formatTimestamp(time), class: 'when' }, at),
    badge(level), h('span.message', clip(message)), h('dl', {}, ...members));
}

/** The screen that shows what a field names, by the field; null: there is none any more. */
const SCREENS: Readonly<Record<string, (id: string) => string | null>> = {
  hook: findWebhookScreen, delivery: () => 'deliveries', request: () => 'requests',
  configuration: () => 'actions',
};

function renderValue(name: string, value: unknown): Child {
  const screen = typeof value === 'string' ? SCREENS[name]?.(value) ?? null : null;
  const text = clip(formatValue(value));
  return screen === null ? text : h('a', { href: href([screen, String(value)]) }, text);
}

function clip(text: string): string {
  if (text.length <= CHARACTERS_MAX) return text;
  return `${text.slice(0, CHARACTERS_MAX)}… (${text.length} characters)`;
}
