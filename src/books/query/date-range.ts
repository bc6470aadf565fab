/**
 * Dates as numbers. A date is YYYYMMDD, with zeros for what is not known: 1990 is
 * 19900000. Such a partial date stands for all its days, so it lies within a range when its first
 * and its last day do: 1990 lies within 1990-01-01 to 1990-12-31, and not within a range that ends
 * on 1990-06-30. Pure.
 */
import { daysInMonth } from '../../base/time.ts';

/** A date is its year times this, its month times that, and its day. */
export const YEAR_STEP = 10_000;
const MONTH_STEP = 100;
const FIRST_DAY = 1;
const FIRST_MONTH = MONTH_STEP + FIRST_DAY;
const LAST_MONTH = 12 * MONTH_STEP + 31;

/** The number of a valid `YYYY`, `YYYY-MM` or `YYYY-MM-DD`: numbers compare as the texts do. */
export function encodeDate(date: string): number {
  return Number(date.replaceAll('-', '').padEnd(8, '0'));
}

export function firstDayOf(date: number): number {
  if (date % MONTH_STEP !== 0) return date;
  return date + (date % YEAR_STEP === 0 ? FIRST_MONTH : FIRST_DAY);
}

export function lastDayOf(date: number): number {
  if (date % MONTH_STEP !== 0) return date;
  if (date % YEAR_STEP === 0) return date + LAST_MONTH;
  return date + daysInMonth(Math.floor(date / YEAR_STEP), date % YEAR_STEP / MONTH_STEP);
}

/** The year, in four digits. */
export function formatYear(date: number): string {
  return String(Math.floor(date / YEAR_STEP)).padStart(4, '0');
}

/** `YYYY-MM`; null for a date that is a year. */
export function formatMonth(date: number): string | null {
  const month = Math.floor(date % YEAR_STEP / MONTH_STEP);
  return month === 0 ? null : `${formatYear(date)}-${String(month).padStart(2, '0')}`;
}

/** The first year of the decade, in four digits. */
export function formatDecade(date: number): string {
  return `${Math.floor(date / (10 * YEAR_STEP))}0`.padStart(4, '0');
}
