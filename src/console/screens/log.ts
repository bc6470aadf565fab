/** The last lines of the log, and new ones as they come. */
import type { ScreenAddress } from '../base/address.ts';
import { get } from '../base/api.ts';
import { fill, h } from '../base/dom.ts';
import { exact } from '../base/format.ts';
import { badge } from '../parts/badge.ts';
import { heading } from '../parts/facts.ts';
import { Filters, pathWith } from '../parts/lists/filters.ts';
import { emptyState, showFailure, tellFailure } from '../parts/notice.ts';
import type { Screen } from '../parts/screen.ts';

type LogLine = {
  /** Rises by one with each line. */
  readonly number: number;
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

const REFRESH_MS = 2000;
const LINES_MAX = 1000;

export const logScreen: Screen = { name: 'log', title: 'Log', key: 'l', scope: 'admin', open };

function open(place: HTMLElement, { query }: ScreenAddress): () => void {
  const list = h('ol', { class: 'log', 'aria-label': 'Lines of the log, newest first' });
  let lastNumber = 0;
  let isPaused = false;
  const pause = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => {
    isPaused = !isPaused;
    pause.setAttribute('aria-pressed', String(isPaused));
    pause.textContent = isPaused ? 'Resume' : 'Pause';
  } }, 'Pause');
  const filters = new Filters([
    { name: 'level', label: 'Level', values: ['error', 'warning', 'info', 'debug'] },
    { name: 'requestId', label: 'Request id' },
  ], query, () => void readAll());
  const read = (after: number): Promise<readonly LogLine[]> =>
    get(pathWith('/api/log', { ...filters.query(), ...after > 0 ? { after: String(after) } : {} }));

  async function readAll(): Promise<void> {
    try {
      const lines = await read(0);
      lastNumber = lines.at(-1)?.number ?? 0;
      if (lines.length === 0) fill(list, h('li', {}, emptyState('No line matches.', null)));
      else fill(list, ...lines.toReversed().map(renderLine));
    } catch (thrown) {
      showFailure(list, thrown, () => void readAll());
    }
  }

  async function readNew(): Promise<void> {
    if (isPaused || document.hidden) return;
    try {
      const lines = await read(lastNumber);
      if (lines.length === 0) return;
      if (lastNumber === 0) fill(list);
      lastNumber = lines.at(-1)?.number ?? lastNumber;
      list.prepend(...lines.toReversed().map(renderLine));
      while (list.childElementCount > LINES_MAX) list.lastElementChild?.remove();
    } catch (thrown) {
      tellFailure(thrown);
    }
  }

  fill(place, heading('Log', pause), filters.element, list);
  void readAll();
  const timer = setInterval(() => void readNew(), REFRESH_MS);
  return () => clearInterval(timer);
}

function renderLine({ time, level, message, fields }: LogLine): HTMLElement {
  const names = Object.entries(fields);
  return h('li', {}, h('span', { class: 'when', title: exact(time) }, time.slice(11, 23)),
    badge(level), h('span', { class: 'message' }, message),
    names.length === 0 ? null : h('dl', {}, ...names.map(([name, value]) => h('div', {},
      h('dt', {}, name),
      h('dd', {}, typeof value === 'string' ? value : JSON.stringify(value))))));
}
