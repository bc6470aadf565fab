/**
 * Finds the texts of a stored book that are searched, in its bytes: to parse the book took 1.3 of
 * the 5 µs that indexing it took.
 *
 * It relies on how books are stored (`resources/record.ts`): no space between tokens, members in
 * the model's order. So nothing after the reading is looked at but the metadata, where they are
 * wanted, and an author and a series begin with the name. A member is told by its name's first
 * letter and length, which no two in the model share.
 */

import { findStringEnd } from '../../base/json/parse.ts';
import { TIME_LENGTH } from '../../resources/record.ts';
import { findNestingEnd, findValueEnd } from '../query/stored-json.ts';

/** Visits the text whose first byte is at `start`; each method returns where the text ends. */
export interface TokenVisitor {
  visitText(bytes: Buffer, start: number): number;
  visitAuthor(bytes: Buffer, start: number): number;
  visitPublisher(bytes: Buffer, start: number): number;
  visitKeyword(bytes: Buffer, start: number): number;
  /** Only a search for words there has these two. In the metadata they are in members' texts. */
  visitReview?(bytes: Buffer, start: number): void;
  visitMetadata?(bytes: Buffer, start: number): number;
}

const QUOTE = 0x22;
const BRACE = 0x7b;
const COMMA = 0x2c;

// The first members, which are not looked at, are the id and both times.
const ID_START = '{"id":"'.length;
const STAMPS_LENGTH = '","createdAt":"","updatedAt":"",'.length + 2 * TIME_LENGTH;
const NAME_START = '{"name":"'.length;

const TITLE = nameCode('title');
const SUBTITLE = nameCode('subtitle');
const AUTHORS = nameCode('authors');
const ISBN = nameCode('isbn');
const PUBLISHER = nameCode('publisher');
const KEYWORDS = nameCode('keywords');
const SERIES = nameCode('series');
const READING = nameCode('reading');
// Members after the reading: a book that has reached one of these has none.
const DESCRIPTION = nameCode('description');
const URL = nameCode('url');
const IMAGE = nameCode('image');
const MERGED_IDS = nameCode('mergedIds');
const METADATA = nameCode('metadata');
// Members of the reading. The code of the review is that of the rating, too, which is no text.
const SHELVES = nameCode('shelves');
const REVIEW = nameCode('review');

/** Hands each title, subtitle, ISBN, name, keyword and shelf of a stored book to `visitor`. */
export function visitTexts(bytes: Buffer, visitor: TokenVisitor): void {
  for (let at = findStringEnd(bytes, ID_START) + STAMPS_LENGTH; bytes[at] === QUOTE;) {
    const name = at + 1;
    const nameEnd = findStringEnd(bytes, name);
    const value = nameEnd + 2;
    switch (memberCode(bytes[name], nameEnd - name)) {
      case TITLE:
      case SUBTITLE:
      case ISBN:
        at = visitor.visitText(bytes, value + 1) + 2;
        break;
      case AUTHORS:
        at = visitNames(bytes, value, visitor, true) + 1;
        break;
      case PUBLISHER:
        at = visitor.visitPublisher(bytes, value + 1) + 2;
        break;
      case KEYWORDS:
        at = visitKeywords(bytes, value, visitor) + 1;
        break;
      case SERIES:
        at = visitNames(bytes, value, visitor, false) + 1;
        break;
      case METADATA:
        visitMetadata(bytes, value, visitor);
        return;
      case READING:
        visitReading(bytes, value, visitor);
        if (visitor.visitMetadata === undefined) return;
        at = findValueEnd(bytes, value) + 1;
        break;
      case DESCRIPTION:
      case URL:
      case IMAGE:
      case MERGED_IDS:
        if (visitor.visitMetadata === undefined) return;
        at = findValueEnd(bytes, value) + 1;
        break;
      default:
        at = findValueEnd(bytes, value) + 1;
    }
  }
}

/**
 * Visits the names of authors or series in the array at `start`. Returns the index after the array.
 */
function visitNames(
  bytes: Buffer, start: number, visitor: TokenVisitor, isAuthor: boolean,
): number {
  let at = start + 1;
  while (bytes[at] === BRACE) {
    const name = at + NAME_START;
    const nameEnd = isAuthor ? visitor.visitAuthor(bytes, name) : visitor.visitText(bytes, name);
    at = findNestingEnd(bytes, nameEnd + 1);
    if (bytes[at] === COMMA) at += 1;
  }
  return at + 1;
}

/** Visits the keywords in the array at `start`. Returns the index after the array. */
function visitKeywords(bytes: Buffer, start: number, visitor: TokenVisitor): number {
  let at = start + 1;
  while (bytes[at] === QUOTE) {
    at = visitor.visitKeyword(bytes, at + 1) + 1;
    if (bytes[at] === COMMA) at += 1;
  }
  return at + 1;
}

/** Visits the shelves of the reading at `start`, and its review. */
function visitReading(bytes: Buffer, start: number, visitor: TokenVisitor): void {
  for (let at = start + 1; bytes[at] === QUOTE;) {
    const name = at + 1;
    const nameEnd = findStringEnd(bytes, name);
    const value = nameEnd + 2;
    const code = memberCode(bytes[name], nameEnd - name);
    if (code === SHELVES) {
      for (let shelf = value + 1; bytes[shelf] === QUOTE;) {
        shelf = visitor.visitText(bytes, shelf + 1) + 2;
      }
    } else if (code === REVIEW && bytes[value] === QUOTE) {
      visitor.visitReview?.(bytes, value + 1);
      return;
    }
    at = findValueEnd(bytes, value) + 1;
  }
}

/** Visits the texts among the members of the object at `start`. */
function visitMetadata(bytes: Buffer, start: number, visitor: TokenVisitor): void {
  if (visitor.visitMetadata === undefined) return;
  for (let at = start + 1; bytes[at] === QUOTE;) {
    const value = findStringEnd(bytes, at + 1) + 2;
    const end = bytes[value] === QUOTE
      ? visitor.visitMetadata(bytes, value + 1) + 1 : findValueEnd(bytes, value);
    at = end + 1;
  }
}

/** The number that stands for a member: see `memberCode`. */
function nameCode(name: string): number {
  return memberCode(name.charCodeAt(0), name.length);
}

/** A number for the member whose name has this first byte and this length. */
function memberCode(first: number | undefined, length: number): number {
  return length * 256 + (first ?? 0);
}
