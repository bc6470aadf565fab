/** Conditional requests (RFC 9110 §13): pure decisions over headers and a version. */
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../base/errors.ts';
import type { Exchange } from '../server/http-route.ts';
import type { Precondition } from './repository.ts';

type ComparedVersion = {
  readonly etag: string;
  readonly updatedAtMs: number;
  /** When the representation changed last: members that are not stored may change later. */
  readonly changedAtMs: number;
  /** Whether tags have the form `"<record>-<observation>"`, see representation.ts. */
  readonly isObserved: boolean;
};

type ConditionResult = 'proceed' | 'not_modified' | 'failed';

export function isConditional(headers: IncomingHttpHeaders): boolean {
  return headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined
    || headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined;
}

/**
 * The precondition of a write, for the repository to check inside the transaction; undefined when
 * the request has none. It throws `precondition_failed` and `malformed`.
 */
export function createPrecondition(
  { request: { headers } }: Exchange, noun: string,
): Precondition | undefined {
  if (!isConditional(headers)) return undefined;
  return (current) => {
    if (evaluateConditions(headers, current, false) !== 'failed') return;
    throw preconditionFailedError(noun);
  };
}

export function preconditionFailedError(noun: string): AppError {
  return new AppError('precondition_failed',
    `the stored ${noun} is another version than the request asks for`);
}

/**
 * Evaluates the conditions of a request for an existing record, in the order of §13.2.2. Throws
 * `malformed` for an If-Match without quotes: such a tag is no other version.
 */
export function evaluateConditions(
  headers: IncomingHttpHeaders, version: ComparedVersion, isRead: boolean,
): ConditionResult {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (match !== undefined) {
    checkQuoted(match);
    if (!matchesStored(match, version)) return 'failed';
  } else {
    const sinceMs = parseHttpDate(headers['if-unmodified-since']);
    if (sinceMs !== null && floorToSecond(version.updatedAtMs) > sinceMs) return 'failed';
  }
  if (noneMatch !== undefined) {
    if (!matchesTag(noneMatch, version.etag, true)) return 'proceed';
    return isRead ? 'not_modified' : 'failed';
  }
  const modifiedSinceMs = isRead ? parseHttpDate(headers['if-modified-since']) : null;
  return modifiedSinceMs !== null && floorToSecond(version.changedAtMs) <= modifiedSinceMs
    ? 'not_modified' : 'proceed';
}

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g;

/** Throws `malformed` unless the header is `*` or a list of tags (§13.1.1). */
function checkQuoted(list: string): void {
  const rest = list.replace(ENTITY_TAG, '');
  if (list.trim() === '*' || (rest !== list && !/[^\s,]/.test(rest))) return;
  throw new AppError('malformed', 'an ETag in If-Match must be quoted, as it came in the header '
    + 'ETag: "<etag>" with its double quotes');
}

// Our tags are strong, so a weak tag can only equal ours in a weak comparison (§8.8.3.2).
function matchesTag(list: string, etag: string, isWeak: boolean): boolean {
  if (list === etag || list.trim() === '*') return true;
  const tags = listTags(list);
  return tags.includes(etag) || (isWeak && tags.includes(`W/${etag}`));
}

function listTags(list: string): readonly string[] {
  return list.match(ENTITY_TAG) ?? [];
}

/** The comparison of If-Match: a change of observed members must not fail an edit. */
function matchesStored(list: string, { etag, isObserved }: ComparedVersion): boolean {
  if (matchesTag(list, etag, false)) return true;
  return isObserved && listTags(list).some((tag) => recordPart(tag) === recordPart(etag));
}

/** The part of a tag before its dash, with the opening quote. */
function recordPart(tag: string): string {
  return tag.split('-', 1)[0] ?? tag;
}

/** HTTP dates have whole seconds. */
function floorToSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/**
 * null for anything but an HTTP date, which is to be ignored (§13.1.3). `Date.parse` takes more.
 */
function parseHttpDate(header: string | undefined): number | null {
  if (header === undefined || !HTTP_DATES.some((form) => form.test(header))) return null;
  const ms = Date.parse(header.endsWith('GMT') ? header : `${header} GMT`);
  return Number.isNaN(ms) ? null : ms;
}

// §5.6.7: the form that everybody sends today, and the two obsolete ones.
const HTTP_DATES: readonly RegExp[] = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];
