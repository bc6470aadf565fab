/** Formats values for people. */
import { encodeJson } from './json-text.ts';
import { h } from './dom.ts';

const RELATIVE_UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3600], ['minute', 60],
];
const relativeFormat = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const numberFormat = new Intl.NumberFormat('en');

export function formatCount(value: number): string {
  return numberFormat.format(value);
}

/** A value of JSON: a text as it is, `–` for none. */
export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : encodeJson(value);
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
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h`
    : `${Math.round(ms / 86_400_000)} days`;
}

/** `3 hr. ago`, `in 2 min`; both times are milliseconds since the epoch. */
function formatRelative(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  for (const [unit, size] of RELATIVE_UNITS) {
    if (Math.abs(seconds) >= size) return relativeFormat.format(Math.trunc(seconds / size), unit);
  }
  return Math.abs(seconds) < 5 ? 'now' : relativeFormat.format(Math.trunc(seconds), 'second');
}

/** A relative time that `refreshTimes` keeps current; the exact one shows on hover. */
export function timeElement(iso: string | null | undefined, none = '–'): HTMLElement {
  const atMs = Date.parse(iso ?? '');
  if (iso === null || iso === undefined || Number.isNaN(atMs)) return h('span', none);
  return h('time', { datetime: iso, title: formatTimestamp(iso) },
    formatRelative(atMs, Date.now()));
}

/** The time to the second, in the time zone of the browser. */
export function formatTimestamp(iso: string): string {
  return new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

export function refreshTimes(): void {
  const nowMs = Date.now();
  for (const element of document.querySelectorAll<HTMLTimeElement>('time:not(.when)')) {
    const text = formatRelative(Date.parse(element.dateTime), nowMs);
    if (element.textContent !== text) element.textContent = text;
  }
}
