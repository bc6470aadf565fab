/**
 * Parses times of other programs, in the form of RFC 3339 §5.6: a date, `T`, a time with its
 * seconds, and `Z` or an offset with its colon. Other forms of ISO 8601 are refused. HTTP dates are
 * parsed apart. No other file parses such texts.
 */
import { formatTimestamp } from './clock.ts';
import type { StringSchema } from './schema.ts';

const TIME_PATTERN = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
// Longer fractions say nothing more, as times are stored to the millisecond.
const TEXT_LENGTH_MAX = 64;

/** Model of a time in a body; it is stored in UTC, with milliseconds. */
export const timeSchema: StringSchema = {
  kind: 'string', format: 'date-time', maxLength: TEXT_LENGTH_MAX,
  mustBe: 'an RFC 3339 time such as 2026-01-31T12:00:00Z',
  canonical: (text) => {
    const ms = parseTime(text);
    return ms === null ? null : formatTimestamp(ms);
  },
};

/**
 * Milliseconds since the epoch; null when `text` is no RFC 3339 time, or lies outside the years
 * 0001 to 9999 in UTC. Digits beyond the millisecond are cut off. Leap seconds are refused: no
 * clock here counts them.
 */
export function parseTime(text: string): number | null {
  const match = text.length > TEXT_LENGTH_MAX ? null : TIME_PATTERN.exec(text);
  if (match === null) return null;
  const [, date = '', hour = '', minute = '', second = '', fraction = '', zone = ''] = match;
  if (!isRealDate(...splitDate(date)) || !isRealTime(hour, minute) || Number(second) > 59) {
    return null;
  }
  const offsetMinutes = parseZone(zone);
  if (offsetMinutes === null) return null;
  const millis = fraction.slice(1, 4).padEnd(3, '0');
  const localMs = Date.parse(`${date}T${hour}:${minute}:${second}.${millis}Z`);
  const ms = localMs - offsetMinutes * 60_000;
  return ms >= YEAR_1_MS && ms < YEAR_10000_MS ? ms : null;
}

const YEAR_1_MS = Date.parse('0001-01-01T00:00:00.000Z');
const YEAR_10000_MS = Date.parse('+010000-01-01T00:00:00.000Z');

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const HTTP_DATE_PATTERN =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) (?:GMT|UTC)$/;

/**
 * Milliseconds since the epoch of an HTTP date as it is written today (RFC 9110 §5.6.7), such as
 * `Fri, 08 Sep 2017 11:24:32 GMT`, or as Scalr writes it: `Fri 08 Sep 2017 11:24:32 UTC`. null: it
 * is neither. The name of the day is not looked at.
 */
export function parseHttpDate(text: string): number | null {
  const [, day = '', month = '', year = '', time = ''] = HTTP_DATE_PATTERN.exec(text) ?? [];
  const monthAt = MONTHS.indexOf(month);
  if (month === '' || monthAt % 3 !== 0) return null;
  return parseTime(`${year}-${String(monthAt / 3 + 1).padStart(2, '0')}-${day}T${time}Z`);
}

/** Whether the calendar (proleptic Gregorian, from year 1) has the date. */
export function isRealDate(year: number, month: number, day: number): boolean {
  return year >= 1 && day >= 1 && day <= daysInMonth(year, month);
}

/** The number of days of a month; 0 for a number that is no month. */
export function daysInMonth(year: number, month: number): number {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeapYear ? 29 : MONTH_DAYS[month - 1] ?? 0;
}

/** The minutes by which local time is ahead of UTC; null for an offset that does not exist. */
function parseZone(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const [hour, minute] = [zone.slice(1, 3), zone.slice(4)];
  if (!isRealTime(hour, minute)) return null;
  const minutes = Number(hour) * 60 + Number(minute);
  return zone.startsWith('-') ? -minutes : minutes;
}

function isRealTime(hour: string, minute: string): boolean {
  return Number(hour) <= 23 && Number(minute) <= 59;
}

function splitDate(date: string): [number, number, number] {
  return [Number(date.slice(0, 4)), Number(date.slice(5, 7)), Number(date.slice(8))];
}
