/**
 * Titles with their series in brackets behind them, as Goodreads has them and who imports from it:
 * `The Hunger Games (The Hunger Games, #1)`, `Mort (Discworld, #4; Death #1)`. Brackets without a
 * place, `#1`, belong to the title: `Dune (Illustrated)`.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

const PLACE = /(?:^|[\s,;])#(\S.*)$/s;
const POSITION = /^[0-9]{0,6}\.?[0-9]{1,6}$/;

/** The title without its series; part where it has one, as the series says the rest. */
export function readTitleBeforeSeries(text: string): RowValue {
  const { title, brackets } = splitBrackets(text);
  return brackets === '' ? whole(text) : part(title);
}

/** The series of a title: part, as the text is that of the title too. */
export function readSeriesOfTitle(text: string): RowValue | undefined {
  const series = splitBrackets(text).brackets.split(';').map(readSeries)
    .filter((one) => one !== null);
  return series.length === 0 ? undefined : part(series);
}

/** A text without a series has no brackets. */
function splitBrackets(text: string): { readonly title: string; readonly brackets: string } {
  const start = findLastBracket(text);
  const title = text.slice(0, Math.max(start, 0)).trim();
  const brackets = start < 0 ? '' : text.slice(start + 1, -1);
  const hasSeries = title !== '' && PLACE.test(brackets);
  return hasSeries ? { title, brackets } : { title: text, brackets: '' };
}

/** Where the brackets open that close at the end of the text, or -1; brackets may be within. */
function findLastBracket(text: string): number {
  if (!text.endsWith(')')) return -1;
  let depth = 0;
  for (let index = text.length - 1; index >= 0; index -= 1) {
    const sign = text[index];
    if (sign === ')') depth += 1;
    if (sign === '(') depth -= 1;
    if (depth === 0) return index;
  }
  return -1;
}

/** The name alone where it has no place, or one that is no number, such as `#1-3`. */
function readSeries(text: string): JsonObject | null {
  const series = foldBlanks(text);
  const match = PLACE.exec(series);
  const start = match === null ? series : series.slice(0, match.index).trim();
  const name = start.endsWith(',') ? start.slice(0, -1).trim() : start;
  if (name === '') return null;
  const place = match?.[1] ?? '';
  return POSITION.test(place) ? { name, position: Number(place) } : { name };
}
