/**
 * Dates as precise as they are known: `YYYY`, `YYYY-MM` or `YYYY-MM-DD` (ISO 8601, proleptic
 * Gregorian calendar, years 0001 to 9999). Pure. Dates of one precision sort by time as text.
 */
import { isRealDate } from '../base/time.ts';
import { quote } from '../base/text/error-message.ts';

const PARTIAL_DATE = /^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$/;

/** The date as given, or null when it is not a date or does not exist in the calendar. */
export function parsePartialDate(text: string): string | null {
  if (!PARTIAL_DATE.test(text)) return null;
  const year = Number(text.slice(0, 4));
  const month = text.length < 7 ? 1 : Number(text.slice(5, 7));
  const day = text.length < 10 ? 1 : Number(text.slice(8));
  return isRealDate(year, month, day) ? text : null;
}

/** Why `parsePartialDate` gives null for `text`, as a sentence fragment. */
export function explainPartialDate(text: string): string {
  const form = 'must be a date as YYYY, YYYY-MM or YYYY-MM-DD';
  return PARTIAL_DATE.test(text) ? `${form}: there is no ${text}` : `${form}, not ${quote(text)}`;
}
