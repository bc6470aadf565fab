/**
 * The series of a JSON-LD node, and what its reader says of it:
 *
 *     "isPartOf": [{ "@type": "BookSeries", "name": "Hainish Cycle" }],
 *     "position": 4,
 *     "review": [{ "@type": "Review", "reviewBody": "…",
 *       "reviewRating": { "@type": "Rating", "ratingValue": 4.5 } }]
 *
 * The position is that in the first series: schema.org has one for a book. A review with an author
 * is that of somebody else, and stays in the source.
 */
import { isJsonObject } from '../../../base/fields.ts';
import type { JsonObject, JsonValue } from '../../../base/schema.ts';
import { RATING_MAX } from '../../book.ts';
import type { Reading, Series } from '../../book.ts';
import { acceptReadingMember } from '../mapping/accept-member.ts';
import { readFirst } from '../mapping/field-text.ts';
import type { RowValue, WrittenFields } from '../mapping/format-table.ts';
import { TEXT, findTexts, listItems, readName } from './jsonld-values.ts';

const BOOK_SERIES = 'BookSeries';
const SERIES_TYPES: readonly string[] = [BOOK_SERIES, 'CreativeWorkSeries'];
const NUMBER = /^[0-9]{1,6}(?:\.[0-9]{1,3})?$/;

export function readSeries(
  isPartOf: JsonValue | undefined, position: JsonValue | undefined,
): RowValue | undefined {
  const items = listItems(isPartOf);
  const wholes = items.map(readOneSeries);
  const series = wholes.filter((one) => one !== undefined);
  const [first, ...others] = series.map(({ value }) => ({ name: value }));
  if (first === undefined) return undefined;
  const number = readNumber(position);
  // A position without a first series is that in something else.
  const isFirst = wholes[0] !== undefined;
  const isWhole = series.length === items.length && series.every((one) => one.isWhole)
    && (position === undefined || number !== null);
  const value = [isFirst && number !== null ? { ...first, position: number } : first, ...others];
  return { value, isWhole };
}

/** The name of a series; undefined for whatever else the book is a part of. */
function readOneSeries(item: JsonValue): RowValue | undefined {
  if (!isJsonObject(item)) return undefined;
  const { '@type': type, name, ...others } = item;
  const isSeries = findTexts(type).texts.some((one) => SERIES_TYPES.includes(one));
  const read = isSeries ? readFirst(findTexts(name, TEXT), readName) : undefined;
  if (read === undefined) return undefined;
  const isWhole = read.isWhole && isOfType(type, BOOK_SERIES) && Object.keys(others).length === 0;
  return { value: read.value, isWhole };
}

export function writeSeries(series: readonly Series[]): WrittenFields {
  const [first] = series;
  if (first === undefined) return [];
  const isPartOf = series.map(({ name }) => ({ '@type': BOOK_SERIES, name }));
  const { position } = first;
  if (position === undefined) return [['isPartOf', isPartOf]];
  // schema.org has integers and texts for it.
  return [['isPartOf', isPartOf],
    ['position', Number.isInteger(position) ? position : String(position)]];
}

type OwnReview = {
  readonly text: RowValue | undefined;
  readonly rating: RowValue | undefined;
  /** Whether text and rating say all that the field says. */
  readonly isWhole: boolean;
};

export function readReviewText(review: JsonValue | undefined): RowValue | undefined {
  const { text, rating, isWhole } = readReview(review);
  return text === undefined ? undefined : { ...text, isWhole: isWhole && rating === undefined };
}

export function readReviewRating(review: JsonValue | undefined): RowValue | undefined {
  const { text, rating, isWhole } = readReview(review);
  if (rating === undefined) return undefined;
  const isTextWhole = text === undefined
    || acceptReadingMember('review', text.value)?.isWhole === true;
  return { ...rating, isWhole: isWhole && isTextWhole };
}

/** The first review with a text or a rating and without an author. */
function readReview(field: JsonValue | undefined): OwnReview {
  const reviews = listItems(field);
  const review = reviews.filter(isJsonObject).find((one) => !Object.hasOwn(one, 'author')
    && (Object.hasOwn(one, 'reviewBody') || Object.hasOwn(one, 'reviewRating')));
  if (review === undefined) return { text: undefined, rating: undefined, isWhole: false };
  const { '@type': type, reviewBody, reviewRating, ...others } = review;
  const text = readFirst(findTexts(reviewBody, TEXT));
  const rating = reviewRating === undefined ? undefined : readRating(reviewRating);
  const isWhole = reviews.length === 1 && (type === undefined || isOfType(type, 'Review'))
    && Object.keys(others).length === 0 && text?.isWhole !== false
    && (reviewRating === undefined || rating?.isWhole === true);
  return { text, rating, isWhole };
}

/** In stars of five: `9` of a `bestRating` of 10 is 4.5. */
function readRating(field: JsonValue): RowValue | undefined {
  const [item, ...otherItems] = listItems(field);
  if (!isJsonObject(item)) return undefined;
  const { '@type': type, ratingValue, bestRating = RATING_MAX, ...others } = item;
  const [value, best] = [readNumber(ratingValue), readNumber(bestRating)];
  if (value === null || best === null || best === 0) return undefined;
  const isWhole = (type === undefined || isOfType(type, 'Rating'))
    && Object.keys(others).length === 0 && otherItems.length === 0;
  return { value: value * RATING_MAX / best, isWhole };
}

export function writeReview({ review, rating }: Partial<Reading>): WrittenFields {
  if (review === undefined && rating === undefined) return [];
  const field: JsonObject = {
    '@type': 'Review',
    ...review === undefined ? {} : { reviewBody: review },
    ...rating === undefined ? {} : { reviewRating: { '@type': 'Rating', ratingValue: rating } },
  };
  return [['review', field]];
}

/** Whether an object is of this type and no other. */
function isOfType(field: JsonValue | undefined, type: string): boolean {
  const { texts } = findTexts(field);
  return texts.length === 1 && texts[0] === type;
}

/** The only number of a field; null where it says another thing, or more. */
function readNumber(field: JsonValue | undefined): number | null {
  const { texts: [text = '', ...others] } = findTexts(field);
  return NUMBER.test(text.trim()) && others.length === 0 ? Number(text) : null;
}
