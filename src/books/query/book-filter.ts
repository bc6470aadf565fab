/** The conditions of a query, and whether a stored book meets them. Pure. */
import { malformed } from '../../server/query.ts';
import type { BookValue } from './book-values.ts';
import type { ValueRow, WordsPlace, WordsRow } from './conditions.ts';
import {
  SEARCH_ROW, VALUE_ROWS, WORDS_ROWS, parsePlace, placeParameter,
} from './conditions.ts';
import type { QueryValues } from './query-parameters.ts';
import { parseClauses } from './words.ts';
import type { Clause } from './words.ts';

type WordsCondition = {
  readonly row: WordsRow;
  /** One entry a text; the book matches if all clauses of one text match. */
  readonly wanted: readonly (readonly Clause[])[];
};

/** The question of a condition about a value. */
export type ValueQuestion = {
  readonly row: Pick<ValueRow, 'name' | 'accepts'>;
  /** One of these, as the row accepts it. */
  readonly wanted: readonly BookValue[];
};
export type ValueCondition = ValueQuestion & { readonly row: ValueRow };
export type ValuePredicate = (value: BookValue) => boolean;

/** All conditions must hold. */
export type BookFilter = {
  readonly words: readonly WordsCondition[];
  readonly values: readonly ValueCondition[];
};

/** The filter that every book meets. */
export const NO_CONDITIONS: BookFilter = { words: [], values: [] };

/** The conditions among the values of a query. Throws `malformed`, naming the parameter. */
export function parseFilter(values: QueryValues): BookFilter {
  const words: WordsCondition[] = [];
  const { name } = placeParameter;
  const [placeText] = values.get(name) ?? [];
  const place = placeText === undefined ? null : parsePlace(placeText, name);
  for (const row of WORDS_ROWS) {
    const wanted: (readonly Clause[])[] = [];
    for (const text of values.get(row.name) ?? []) {
      const clauses = parseClauses(text, `\`${row.name}\``);
      // An empty text is no condition.
      if (clauses.length > 0) wanted.push(clauses);
    }
    if (wanted.length === 0) continue;
    const isMoved = place !== null && row === SEARCH_ROW;
    words.push({ row: isMoved ? { ...row, place, isScanned: true } : row, wanted });
  }
  if (place !== null && !words.some(({ row }) => row.place === place)) {
    throw malformed(`\`${name}\` says where the words of \`q\` are looked for: give \`q\` some `
      + `words, or leave \`${name}\` out`);
  }
  const valueConditions: ValueCondition[] = [];
  for (const row of VALUE_ROWS) {
    const texts = values.get(row.name);
    if (texts === undefined) continue;
    // A value that stands twice counts once.
    const wanted = new Set(texts.map((text) => row.parse(text, row.name)));
    valueConditions.push({ row, wanted: [...wanted] });
  }
  return { words, values: valueConditions };
}

/** The filter for books that have all of these words in the place. */
export function createWordsFilter(
  clauses: readonly Clause[], place: WordsPlace = 'anyText',
): BookFilter {
  const rows = WORDS_ROWS.filter((row) => row.place === place);
  return { words: rows.map((row) => ({ row, wanted: [clauses] })), values: [] };
}

/** The conditions whose rows are selected. */
export function selectConditions(
  { words, values }: BookFilter, isSelected: (row: WordsRow | ValueRow) => boolean,
): BookFilter {
  return {
    words: words.filter(({ row }) => isSelected(row)),
    values: values.filter(({ row }) => isSelected(row)),
  };
}

/** The clauses of `q`; none without it. */
export function searchClausesOf({ words }: BookFilter): readonly Clause[] {
  return words.find(({ row }) => row === SEARCH_ROW)?.wanted[0] ?? [];
}

/** The conditions as plain data, with their names, for the fingerprint of a query. */
export function listWanted({ words, values }: BookFilter): readonly unknown[] {
  return [
    ...words.map(({ row: { name, place }, wanted }) => [name, place, wanted]),
    ...values.map(({ row: { name }, wanted }) => [name, wanted]),
  ];
}

/** Whether there is any condition: else every book matches. */
export function hasConditions({ words, values }: BookFilter): boolean {
  return words.length + values.length > 0;
}

/** Whether texts of books are looked at, or the word index in their place. */
export function isAboutTexts({ words, values }: BookFilter): boolean {
  return words.length > 0 || values.some(({ row }) => row.term !== undefined);
}

/** Whether the word index finds books for one of the conditions. */
export function usesWordIndex({ words, values }: BookFilter): boolean {
  return words.some(isIndexed) || values.some(({ row }) => row.term !== undefined);
}

/** Whether the word index is to be made for the conditions: a scan finds an ISBN quickly. */
export function justifiesWordIndex({ words, values }: BookFilter): boolean {
  return words.some(isIndexed) || values.some(({ row }) => row.term === 'keyword');
}

function isIndexed({ row }: WordsCondition): boolean {
  return row.isScanned !== true;
}

/** Checks the conditions on the values of a book, which are read without parsing it. */
export function createValueCheck({ values }: BookFilter): (bytes: Buffer) => boolean {
  // A scan asks nothing of the rows themselves, which differ in shape: that took 60 ns a book.
  const checks = values.map((condition) => ({
    readValues: condition.row.readValues, accepts: createPredicate(condition),
    isExcluded: condition.row.isExcluded === true, isKeyword: condition.row.term === 'keyword',
  }));
  // Keywords take longest to read.
  checks.sort((left, right) => Number(left.isKeyword) - Number(right.isKeyword));
  return (bytes) => {
    let reader: ValueRow['readValues'] | null = null;
    let bookValues: readonly BookValue[] = [];
    for (const { readValues, accepts, isExcluded } of checks) {
      if (readValues !== reader) bookValues = readValues(bytes);
      reader = readValues;
      if (hasOne(bookValues, accepts) === isExcluded) return false;
    }
    return true;
  };
}

/** The same as `some`, which takes 20 ns longer. */
function hasOne(values: readonly BookValue[], accepts: ValuePredicate): boolean {
  for (const value of values) if (accepts(value)) return true;
  return false;
}

/** Tells of a value whether a condition asks for it. */
export function createPredicate(
  { row: { accepts = Object.is }, wanted }: ValueQuestion,
): ValuePredicate {
  const [first, ...others] = wanted;
  if (first !== undefined && others.length === 0) return (value) => accepts(first, value);
  return (value) => wanted.some((one) => accepts(one, value));
}
