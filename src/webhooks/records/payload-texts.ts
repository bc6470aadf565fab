/**
 * The texts in which a search looks for words: of a payload that is JSON its strings, unescaped,
 * and its numbers as they are written, but no names of members; of any other payload its UTF-8
 * text; of bytes that are not UTF-8 nothing. Pure.
 */
import { isUtf8 } from 'node:buffer';
import { findStringEnd, isMemberName } from '../../base/text/json-value-end.ts';

const QUOTE = 0x22;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const BYTE_ORDER_MARK = 0xfeff;
const NUMBER = /[-+.0-9eE]*/y;

/** A longer text, such as a file in base64, is cut: each part takes a step. */
const TEXT_LENGTH_MAX = 1 << 17;
const CUT_BACK = 1024;
const SEPARATORS = ' \t\r\n",.:;=&/{}[]()<>';

export function* listPayloadTexts(payload: Buffer): Generator<string, void, void> {
  if (payload.length === 0 || !isUtf8(payload)) return;
  const text = payload.toString('utf8');
  const json = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  if (isJson(json)) yield* listJsonTexts(json);
  else yield* cutText(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Lists strings and numbers of a valid JSON text. */
function* listJsonTexts(json: string): Generator<string, void, void> {
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = findStringEnd(json, at);
      if (!isMemberName(json, end)) yield* cutText(unescapeString(json.slice(at, end)));
      at = end;
    } else if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) {
      NUMBER.lastIndex = at;
      const [number = ''] = NUMBER.exec(json) ?? [];
      yield number;
      at += number.length;
    } else {
      at += 1;
    }
  }
}

function unescapeString(json: string): string {
  return json.includes('\\') ? String(JSON.parse(json)) : json.slice(1, -1);
}

/** Cuts a long text, between two words if there is such a place within the last `CUT_BACK`. */
function* cutText(text: string): Generator<string, void, void> {
  let start = 0;
  while (text.length - start > TEXT_LENGTH_MAX) {
    const limit = start + TEXT_LENGTH_MAX;
    let end = limit;
    while (end > limit - CUT_BACK && !SEPARATORS.includes(text.charAt(end))) end -= 1;
    if (end === limit - CUT_BACK) end = limit;
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}
