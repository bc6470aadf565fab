/**
 * Titles with their series in brackets behind them, as Goodreads has them and who imports from it:
 * `The Hunger Games (The Hunger Games, #1)`, `Mort (Discworld, #4; Death #1)`, or with brackets for
 * each series, `Mort (Discworld, #4) (Death, #1)`. Brackets without a place, `#1`, belong to the
 * title, as does a place without a name: `Dune (Illustrated)`, `Dune (#1)`.
 */
import { foldBlanks } from '../../../base/text/fold-blanks.ts';
import type { JsonObject } from '../../../base/schema.ts';
import { LIST_LENGTH_MAX } from './field-text.ts';
import { part, whole } from './format-table.ts';
import type { RowValue } from './format-table.ts';

const PLACE = /(?:^|[\s,;])#(\S.*)$/s;
/** A place in words at the end of the text of a series: `Discworld, Band 4`, `Mort (Vol. 4)`. */
const PLACE_IN_WORDS = new RegExp('[\\s,]\\(?(?:book|volume|vol|part|no|number|band|bd|buch|teil'
  + '|nr|folge|tome|livre|tomo|libro|num)\\.? ?([0-9]{1,6}(?:\\.[0-9]{1,3})?)\\)?$', 'i');
const POSITION = /^[0-9]{0,6}\.?[0-9]{1,6}$/;

/** The title without its series; part where it has one, as the series says the rest. */
export function readTitleBeforeSeries(text: string): RowValue {
  const { title, series } = splitTitle(text);
  return series.length === 0 ? whole(text) : part(title);
}

/** The series of a title: part, as the text is that of the title too. */
export function readSeriesOfTitle(text: string): RowValue | undefined {
  const { series } = splitTitle(text);
  return series.length === 0 ? undefined : part(series);
}

type SplitTitle = { readonly title: string; readonly series: readonly JsonObject[] };

/** Takes off brackets at the end for as long as they name a series, LIST_LENGTH_MAX at most. */
function splitTitle(text: string): SplitTitle {
  const lastFirst: JsonObject[] = [];
  let title = text;
  for (;;) {
    const start = findLastBracket(title);
    const before = title.slice(0, Math.max(start, 0)).trim();
    const isRead = before !== '' && lastFirst.length < LIST_LENGTH_MAX;
    const series = isRead ? readBrackets(title.slice(start + 1, -1)) : [];
    if (series.length === 0) return { title, series: lastFirst.reverse() };
    lastFirst.push(...series.reverse());
    title = before;
  }
}

/** Empty if no place tells that the text is about series, and for a place without a name. */
function readBrackets(text: string): JsonObject[] {
  return PLACE.test(text) ? readEach(text.split(';', LIST_LENGTH_MAX)) : [];
}

/** The series of a text about nothing else, `Discworld #4; Death`; part where a place is left. */
export function readSeriesNames(text: string): RowValue | undefined {
  const texts = text.split(';', LIST_LENGTH_MAX).map((one) =>
    one.includes('#') ? one : one.trim().replace(PLACE_IN_WORDS, ' #$1'));
  const series = readEach(texts);
  if (series.length === 0) return undefined;
  const placeCount = texts.filter((one) => PLACE.test(one)).length;
  const positionCount = series.filter(({ position }) => position !== undefined).length;
  const isAll = placeCount === positionCount && texts.length < LIST_LENGTH_MAX;
  return isAll ? whole(series) : part(series);
}

function readEach(texts: readonly string[]): JsonObject[] {
  return texts.map(readSeries).filter((one) => one !== null);
}

/** The place of the bracket that closes at the end of the text, or -1; it may hold others. */
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
