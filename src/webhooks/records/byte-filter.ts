/**
 * The first look of a search at a record: at its bytes as they are stored. Most records have not
 * what is searched for, and this look takes a tenth of the time of decoding them.
 *
 * The words of a search are folded to lower case and have no accents, so a record must have a word
 * as it is, in any case, or among its characters beyond ASCII, once these are folded; unless
 * something hides it: an escape (`\u0041`), base64, or, where a form is read as payload,
 * percent-encoding. Such a record is decoded. Pure.
 */
import { isAscii } from 'node:buffer';
import { ASCII, fold } from '../../base/text/fold.ts';
import type { Word } from '../../base/text/words.ts';
import type { Condition, Operator } from '../members/filters/condition.ts';

/** False: the record whose encoded parts these are does not match. True: it may. */
export type ByteFilter = (parts: readonly Buffer[]) => boolean;

const OTHERS = /[^\x00-\x7f]+/g;
const ASCII_RUNS = /[a-z0-9]+/g;
/** An escape of JSON that may stand for a letter; the others stand for separators. */
const ESCAPE = '\\u';
/** A body that is not stored as text (inbox/request-body.ts). */
const ENCODED_BODY = ',"body":"';
const PERCENT = '%';
const INDEX = /^[0-9]+$/;
/** The one member of the payload of a plain text (incoming/body-format.ts). */
const TEXT_MEMBER = 'text';

export function createByteFilter(
  words: readonly Word[], conditions: readonly Condition[],
): ByteFilter {
  const conditionNeedles = conditions.flatMap(listNeedles);
  // The longest is the rarest, mostly.
  const needles = [...new Set([...words.map(({ text }) => text), ...conditionNeedles])]
    .sort((left, right) => right.length - left.length);
  const marks = [ESCAPE, ENCODED_BODY, ...conditionNeedles.length > 0 ? [PERCENT] : []];
  if (needles.length === 0) return () => true;
  return (parts) => {
    const texts = parts.map((part) => part.toString('latin1').toLowerCase());
    const has = (piece: string): boolean => texts.some((text) => text.includes(piece));
    let missing = needles.filter((needle) => !has(needle));
    if (missing.length === 0 || marks.some(has)) return true;
    for (const part of parts) {
      if (isAscii(part)) continue;
      const text = foldOthers(part.toString('utf8'));
      missing = missing.filter((needle) => !text.includes(needle));
    }
    return missing.length === 0;
  };
}

/**
 * Folds the characters beyond ASCII, each together with the letters and digits beside it. What is
 * folded to a word lies within one such piece.
 */
function foldOthers(text: string): string {
  let foldedText = '';
  let end = 0;
  OTHERS.lastIndex = 0;
  for (let match = OTHERS.exec(text); match !== null; match = OTHERS.exec(text)) {
    let start = match.index;
    while (start > end && isWordCode(text.charCodeAt(start - 1))) start -= 1;
    end = OTHERS.lastIndex;
    while (end < text.length && isWordCode(text.charCodeAt(end))) end += 1;
    foldedText += `${fold(text.slice(start, end))} `;
    OTHERS.lastIndex = end;
  }
  return foldedText;
}

/** Whether the code is a letter or a digit of ASCII, or beyond ASCII. */
function isWordCode(code: number): boolean {
  if (code >= 0x80 || (code >= 0x30 && code <= 0x39)) return true;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

const POSITIVE_TEXT: ReadonlySet<Operator> = new Set(['eq', 'prefix', 'suffix', 'contains']);

/** The pieces of text that a record must have for the condition to hold. */
function listNeedles({ all, path, op, value }: Condition): string[] {
  if (all !== undefined) return all.flatMap(listNeedles);
  if (path === undefined || op === undefined || (op === 'exists' && value === false)) return [];
  // Every other comparison needs something to stand at the path.
  const names = listStoredNames(path);
  const texts = typeof value === 'string' && POSITIVE_TEXT.has(op) ? [...names, value] : names;
  return texts.flatMap(listRuns);
}

/** The names of a path that are in the record: no index is, and no `text` of a body that is one. */
function listStoredNames(path: string): string[] {
  const [, ...names] = path.split('.');
  return names.filter((name, index) => !INDEX.test(name) && (index > 0 || name !== TEXT_MEMBER));
}

/** The longest piece of letters and digits, which no encoding but those that are known changes. */
function listRuns(text: string): string[] {
  const runs = ASCII.test(text) ? text.toLowerCase().match(ASCII_RUNS) ?? [] : [];
  const longest = runs.reduce((best, run) => run.length > best.length ? run : best, '');
  return longest === '' ? [] : [longest];
}
