/**
 * Dates of other programs, as the model's `YYYY`, `YYYY-MM` or `YYYY-MM-DD`: the one reader of them
 * for all formats. It keeps what is sure and invents nothing: `2013-00-00` is 2013, `1990-02-30` is
 * 1990-02, and `199X` is no date.
 */
import { fold } from '../../../base/text/fold.ts';
import { parsePartialDate } from '../../partial-date.ts';
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

/** The first three letters of the months in English: BibTeX's own names for them. */
export const MONTHS: readonly string[] = [
  'jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec',
];

// `1969`, `1969-03-05`, `1969/3/5` and what stands behind it.
const YEAR_FIRST = new RegExp('^([0-9]{3,4})(?![0-9])'
  + '(?:[-/.]([0-9]{1,2})(?![0-9])(?:[-/.]([0-9]{1,2})(?![0-9]))?)?(.*)$', 's');
// `1969///` and `1969/03//`, as RIS has dates.
const SLASHES = /^[0-9]+\/(?:\/|[0-9]+\/[0-9]*)\/$/;
const TIME = /^[T ]([0-9:.]+)(?:Z|[-+][0-9:]+)?$/;
const MIDNIGHT = /^00:00(?::00(?:\.0+)?)?$/;
const DAY_MS = 24 * 60 * 60 * 1000;
// `march 1969`, `5 mar. 1969`, `5. marz 1969`, `5 de marzo de 1969`, `1er mars 1969`,
// `march 5, 1969`.
const MONTH_NAME = new RegExp('^(?:([0-9]{1,2})(?:\\.|st|nd|rd|th|er|º)? )?(?:de )?([a-z]{3,10})'
  + '\\.?(?: ([0-9]{1,2})(?:st|nd|rd|th)?)?,? (?:del? )?([0-9]{4})$');
/** The languages whose names of months are read. */
const MONTH_LANGUAGES = ['en', 'de', 'de-AT', 'fr', 'es'];
const ANY_YEAR = /(?:^|[^0-9])([0-9]{4})(?![0-9])/;
const BEFORE_OUR_ERA = /^-|\bB\.?C/i;
// `03.11.2018`, `3/11/2018`, `3-11-2018`, as spreadsheets write dates.
const YEAR_LAST = /^([0-9]{1,2})([./-]) ?([0-9]{1,2})\2 ?([0-9]{4})$/;
// `11/2018`, `11.2018`.
const MONTH_FIRST = /^([0-9]{1,2})[./-] ?([0-9]{4})$/;
const MONTHS_OF_YEAR = 12;
const TEXT_LENGTH_MAX = 200;
const DATE_LENGTH_MAX = 10;

/** The date that a text begins with or holds; whole where it says nothing else. */
export function readDate(text: string): RowValue | undefined {
  const trimmedText = text.trim();
  // Most dates are such, `2023/01/05` or with hyphens, and taken apart in less than 1 µs.
  const plainDate = trimmedText.length > DATE_LENGTH_MAX
    ? null : parsePartialDate(trimmedText.replaceAll('/', '-'));
  if (plainDate !== null) return whole(plainDate);
  if (trimmedText.length > TEXT_LENGTH_MAX || BEFORE_OUR_ERA.test(trimmedText)) return undefined;
  const [, year = '', month = '', day = '', rest = ''] = YEAR_FIRST.exec(trimmedText) ?? [];
  // `199X` is a decade.
  if (year.length === 4 || (year !== '' && /^(?:$|[-/.])/.test(rest))) {
    const date = createDate(Number(year), numberOf(month), numberOf(day));
    return date === undefined ? undefined : readRest(date, trimmedText, rest);
  }
  const [, first = '', sign, second = '', lastYear] = YEAR_LAST.exec(trimmedText) ?? [];
  if (lastYear !== undefined) {
    return readYearLast(Number(lastYear), Number(first), Number(second), sign === '.');
  }
  const [, monthFirst, yearBehind] = MONTH_FIRST.exec(trimmedText) ?? [];
  if (monthFirst !== undefined) return createDate(Number(yearBehind), Number(monthFirst), null);
  const [, dayFirst, name = '', daySecond, nameYear = ''] =
    MONTH_NAME.exec(fold(trimmedText)) ?? [];
  const monthNumber = findMonth(name);
  if (monthNumber > 0) {
    return createDate(Number(nameYear), monthNumber, numberOf(dayFirst ?? daySecond ?? ''));
  }
  const [, anyYear] = ANY_YEAR.exec(trimmedText) ?? [];
  return anyYear === undefined || anyYear === '0000' ? undefined : part(anyYear);
}

/** A year is whole, also one of two digits: 19 is the time of Augustus. */
export function readYear(year: string): RowValue | undefined {
  return readDate(year.padStart(4, '0'));
}

/** The date that several say together, as precise as one of them; whole where none says another. */
export function combineDates(dates: readonly (RowValue | undefined)[]): RowValue | undefined {
  const [first] = dates.filter((date) => date !== undefined);
  if (first === undefined) return undefined;
  let longest = String(first.value);
  for (const date of dates) {
    const text = String(date?.value ?? '');
    if (text.length > longest.length && text.startsWith(longest)) longest = text;
  }
  const isAll = dates.every((date) =>
    date?.isWhole === true && longest.startsWith(String(date.value)));
  return isAll ? whole(longest) : part(longest);
}

/** The date of numbers, as precise as the calendar has it; undefined for a year that it lacks. */
export function createDate(
  year: number, month: number | null, day: number | null,
): RowValue | undefined {
  if (!Number.isInteger(year) || year < 1 || year > 9999) return undefined;
  const parts = [String(year).padStart(4, '0')];
  for (const number of [month, day]) {
    if (number === null) break;
    const longer = parsePartialDate([...parts, String(number).padStart(2, '0')].join('-'));
    if (longer === null) return part(parts.join('-'));
    parts.push(longer.slice(-2));
  }
  const date = parts.join('-');
  return month === null && day !== null ? part(date) : whole(date);
}

/** The date by what stands behind it: nothing, a time, or more than the model says. */
function readRest(date: RowValue, text: string, rest: string): RowValue {
  if (rest === '' || SLASHES.test(text)) return date;
  const [, time] = String(date.value).length === 10 ? TIME.exec(rest) ?? [] : [];
  if (time === undefined) return part(date.value);
  if (MIDNIGHT.test(time)) return date;
  // A midnight in UTC that a program tells in another zone.
  const timeMs = new Date(text).getTime();
  const isMidnight = timeMs % DAY_MS === 0;
  return isMidnight ? whole(new Date(timeMs).toISOString().slice(0, 10)) : part(date.value);
}

/**
 * A date of which the year comes last. Where dots are between, the day comes first; else either
 * may, as the country of the spreadsheet had it: the one that is no month is the day.
 */
function readYearLast(
  year: number, first: number, second: number, isDayFirst: boolean,
): RowValue | undefined {
  if (isDayFirst || first > MONTHS_OF_YEAR || first === second) {
    return createDate(year, second, first);
  }
  if (second > MONTHS_OF_YEAR) return createDate(year, first, second);
  const date = createDate(year, null, null);
  return date === undefined ? undefined : { ...part(date.value), isDoubtful: true };
}

/**
 * The number of the one month whose name in some language begins so, from 1; else 0. `start` is
 * folded.
 */
function findMonth(start: string): number {
  if (start === '') return 0;
  monthNames ??= createMonthNames();
  const isMonth = (names: readonly string[]): boolean =>
    names.some((name) => name.startsWith(start));
  const month = monthNames.findIndex(isMonth);
  // `jui` is `juin` and `juillet`.
  return month === monthNames.findLastIndex(isMonth) ? month + 1 : 0;
}

let monthNames: readonly (readonly string[])[] | null = null;

/** The folded names of each month. */
function createMonthNames(): readonly (readonly string[])[] {
  const formats = MONTH_LANGUAGES.map((language) =>
    new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' }));
  return MONTHS.map((_, month) =>
    formats.map((format) => fold(format.format(Date.UTC(2000, month)))));
}

function numberOf(digits: string): number | null {
  return digits === '' ? null : Number(digits);
}
