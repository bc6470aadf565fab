/**
 * Dates of publication as numbers, and ranges of them. A date is YYYYMMDD, with zeros for what is
 * not known: 1990 is 19900000. Such a partial date stands for all its days, so it lies within a
 * range when its first and its last day do: 1990 lies within 1990-01-01 to 1990-12-31, and not
 * within a range that ends on 1990-06-30. Pure.
 */
import { isRealDate } from '../../base/time.ts';

/** A date is its year times this, its month times that, and its day. */
export const YEAR_STEP = 10_000;
const MONTH_STEP = 100;
/** No book has this date. */
const NO_DATE = 0;
const DATE_MAX = 9999_9999;

/** Both bounds belong to the range; what they hold whole is widened: December 31st is YYYY9999. */
type DateRange = {
  readonly from: number;
  readonly to: number;
  /** The year and the month that the range ends within: such a partial date has later days. */
  readonly endedYear: number;
  readonly endedMonth: number;
};

/** The number of a valid `YYYY`, `YYYY-MM` or `YYYY-MM-DD`: numbers compare as the texts do. */
export function encodeDate(date: string): number {
  return Number(date.replaceAll('-', '').padEnd(8, '0'));
}

/** The first year of the decade of a date, in four digits. */
export function formatDecade(date: number): string {
  return `${Math.floor(date / (10 * YEAR_STEP))}0`.padStart(4, '0');
}

/** The lower bound that a valid date is: the first day of a year begins with the year. */
export function encodeFirstDate(date: string): number {
  const first = encodeDate(date);
  const month = first % MONTH_STEP === 1 ? first - 1 : first;
  return month % YEAR_STEP === MONTH_STEP ? month - MONTH_STEP : month;
}

/** The upper bound that a valid date is: a whole year ends with 9999, a whole month with 99. */
export function encodeLastDate(date: string): number {
  const first = encodeDate(date);
  const year = first - first % YEAR_STEP;
  const month = first - first % MONTH_STEP;
  if (date.length === 4) return year + YEAR_STEP - 1;
  const isMonth = date.length === 7
    || !isRealDate(year / YEAR_STEP, (month - year) / MONTH_STEP, first - month + 1);
  if (!isMonth) return first;
  return month - year === 12 * MONTH_STEP ? year + YEAR_STEP - 1 : month + MONTH_STEP - 1;
}

/** The range between two bounds of `encodeFirstDate` and `encodeLastDate`; null: it is open. */
export function createDateRange(from: number | null, to: number | null): DateRange {
  const last = to ?? DATE_MAX;
  const endsYear = last % YEAR_STEP === YEAR_STEP - 1;
  const endsMonth = last % MONTH_STEP === MONTH_STEP - 1;
  return {
    from: from ?? NO_DATE, to: last,
    endedYear: endsYear ? NO_DATE : last - last % YEAR_STEP,
    endedMonth: endsMonth ? NO_DATE : last - last % MONTH_STEP,
  };
}

export function isWithin(date: number, { from, to, endedYear, endedMonth }: DateRange): boolean {
  return date >= from && date <= to && date !== endedYear && date !== endedMonth;
}
