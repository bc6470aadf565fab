/** Dates of other programs, as the model's `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
import { parsePartialDate } from '../../partial-date.ts';
import { MONTHS } from '../month-names.ts';
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

// `1969`, `1969-03-05`, `1969/3/5`, `1969///`, `1969/03//Spring`.
const YEAR_FIRST = /^([0-9]{3,4})(?:[-/.]([0-9]{0,2})(?:[-/.]([0-9]{0,2})(?:[-/.](.*))?)?)?$/;
// `March 1969`, `5 Mar. 1969`, `March 5, 1969`.
const MONTH_NAME = /^(?:([0-9]{1,2})\.? )?([a-z]{3,9})\.?(?: ([0-9]{1,2}))?,? ([0-9]{4})$/i;
const ANY_YEAR = /(?:^|[^0-9])([0-9]{4})(?![0-9])/;
const TEXT_LENGTH_MAX = 200;

/** The date that a text begins with or holds; whole where it says nothing else. */
export function readAnyDate(text: string): RowValue | undefined {
  const trimmed = text.trim();
  if (trimmed.length > TEXT_LENGTH_MAX) return undefined;
  const [, year, month = '', day = '', others = ''] = YEAR_FIRST.exec(trimmed) ?? [];
  if (year !== undefined) {
    const date = createDate(Number(year), numberOf(month), numberOf(day));
    return date !== undefined && others !== '' ? part(date.value) : date;
  }
  const [, dayFirst, name = '', daySecond, nameYear = ''] = MONTH_NAME.exec(trimmed) ?? [];
  const monthNumber = MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
  if (monthNumber > 0) {
    return createDate(Number(nameYear), monthNumber, numberOf(dayFirst ?? daySecond ?? ''));
  }
  // A year before our era is none of the model's.
  const [, anyYear] = /^-|\bB\.?C/i.test(trimmed) ? [] : ANY_YEAR.exec(trimmed) ?? [];
  return anyYear === undefined ? undefined : part(anyYear);
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

function numberOf(digits: string): number | null {
  return digits === '' ? null : Number(digits);
}
