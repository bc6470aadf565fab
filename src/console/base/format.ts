/** Formats values for people. */
import { encodeJson } from './json-text.ts';
import { h } from './dom.ts';

/** Times that lie no farther off are now. */
const NOW_MS = 5000;
const DAY_MS = 86_400_000;
const QUARTERS = ['', '¼', '½', '¾'];
const numberFormat = new Intl.NumberFormat('en');

export function formatCount(value: number): string {
  return numberFormat.format(value);
}

/** A value of JSON: a text as it is, `–` for none. */
export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : encodeJson(value);
}

/** `★★★½` */
export function formatStars(rating: number): string {
  return '★'.repeat(Math.floor(rating)) + (QUARTERS[rating % 1 * 4] ?? '');
}

/** `1 request`, `2 requests` */
export function formatQuantity(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}

/** `1.5 MiB` */
export function formatBytes(value: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let amount = value;
  let unit = 0;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`;
}

export function formatDuration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 2 * DAY_MS) return `${Math.round(ms / 3_600_000)} h`;
  if (ms < 60 * DAY_MS) return `${Math.round(ms / DAY_MS)} days`;
  return ms < 730 * DAY_MS ? `${Math.round(ms / DAY_MS / 30)} months`
    : `${Math.round(ms / DAY_MS / 365)} years`;
}

/** In whole seconds, of which there is one at least. */
function formatSpan(ms: number): string {
  return ms < 10_000 ? `${Math.max(1, Math.round(ms / 1000))} s` : formatDuration(ms);
}

/** `3 h ago`, `in 2 min`; both times are milliseconds since the epoch. */
function formatRelative(atMs: number, nowMs: number): string {
  const span = formatSpan(Math.abs(atMs - nowMs));
  if (Math.abs(atMs - nowMs) < NOW_MS) return 'now';
  return atMs < nowMs ? `${span} ago` : `in ${span}`;
}

/** `for 3 min` */
function formatLasting(sinceMs: number, nowMs: number): string {
  return `for ${formatSpan(nowMs - sinceMs)}`;
}

/** A relative time that `refreshTimes` keeps current; the exact one shows on hover. */
export function timeElement(iso: string | null | undefined, none = '–'): HTMLElement {
  return createTime(iso, none, false);
}

/** `timeElement` of a time that may be missing; null without it. */
export function optionalTime(iso: string | null | undefined): HTMLElement | null {
  return iso === null || iso === undefined ? null : timeElement(iso);
}

/** The time for which something has been so: `for 3 min`. The exact beginning shows on hover. */
export function lastingElement(since: string): HTMLElement {
  return createTime(since, '–', true);
}

function createTime(
  iso: string | null | undefined, none: string, isLasting: boolean,
): HTMLElement {
  const atMs = Date.parse(iso ?? '');
  if (iso === null || iso === undefined || Number.isNaN(atMs)) return h('span', none);
  const element = h('time', {
    datetime: iso, title: formatTimestamp(iso), 'data-lasting': isLasting,
  });
  showTime(element, Date.now());
  return element;
}

function showTime(element: HTMLTimeElement, nowMs: number): void {
  const format = 'lasting' in element.dataset ? formatLasting : formatRelative;
  const text = format(Date.parse(element.dateTime), nowMs);
  if (element.textContent !== text) element.textContent = text;
}

/** The time to the second, in the time zone of the browser. */
export function formatTimestamp(iso: string): string {
  return new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

export function refreshTimes(): void {
  const nowMs = Date.now();
  for (const element of document.querySelectorAll<HTMLTimeElement>('time:not(.when)')) {
    showTime(element, nowMs);
  }
}
