/** Whether a stored book matches a query. Pure. */
import { createDateRange, isWithin } from './date-range.ts';
import type { BookFilter } from './parse-query.ts';
import { readBookFormat, readDatePublished, readIsbn, readLanguage } from './stored-fields.ts';

/** Checks the conditions that are read from a book's bytes without parsing them. */
export function matchesMembers(filter: BookFilter, bytes: Buffer): boolean {
  const { bookFormats, languages } = filter;
  return matchesIsbn(filter, bytes) && matchesDate(filter, bytes)
    && (languages.length === 0 || matchesLanguages(languages, readLanguage(bytes)))
    && (bookFormats.length === 0 || bookFormats.includes(readBookFormat(bytes) ?? ''));
}

/** Whether there is a condition that `matchesMembers` checks. */
function hasMemberConditions(filter: BookFilter): boolean {
  const { isbns, languages, bookFormats, hasIsbn, publishedFrom, publishedTo } = filter;
  return [isbns, languages, bookFormats].some(({ length }) => length > 0)
    || hasIsbn !== null || publishedFrom !== null || publishedTo !== null;
}

/** Whether there is a condition on words and keywords, which a look at the texts checks. */
export function hasTextConditions(filter: BookFilter): boolean {
  const { words, authors, publishers, keywords, excludedKeywords } = filter;
  return [words, authors, publishers, keywords, excludedKeywords].some(({ length }) => length > 0);
}

/** Whether there is any condition: else every book matches. */
export function hasConditions(filter: BookFilter): boolean {
  return hasMemberConditions(filter) || hasTextConditions(filter);
}

function matchesIsbn({ isbns, hasIsbn }: BookFilter, bytes: Buffer): boolean {
  if (isbns.length === 0 && hasIsbn === null) return true;
  const isbn = readIsbn(bytes);
  if (hasIsbn !== null && hasIsbn !== (isbn !== null)) return false;
  return isbns.length === 0 || (isbn !== null && isbns.includes(isbn));
}

/** A book without a date never matches. */
function matchesDate({ publishedFrom, publishedTo }: BookFilter, bytes: Buffer): boolean {
  if (publishedFrom === null && publishedTo === null) return true;
  const published = readDatePublished(bytes);
  return published !== null && isWithin(published, createDateRange(publishedFrom, publishedTo));
}

/**
 * Basic filtering (RFC 4647 §3.3.1): one of the ranges, or the range and a hyphen, begins the tag.
 */
export function matchesLanguages(ranges: readonly string[], tag: string | null): boolean {
  if (tag === null) return false;
  const lower = tag.toLowerCase();
  return ranges.some((range) => range === '*' || lower === range
    || (lower.startsWith(range) && lower[range.length] === '-'));
}
