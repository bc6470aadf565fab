/**
 * The body of a stored request. It is the last member of a record: `"bodyText"` if it is valid
 * UTF-8, else `"body"` in base64. The record is the request's, or, for a body above 16 KiB, one of
 * its own, so that lists need not read it. Then the request holds `"body":null`, and the collection
 * `request-bodies` holds `{"id","bodyText"}` or `{"id","body"}`, which is written once and deleted
 * with the request.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../base/errors.ts';
import { redactText } from '../../base/log.ts';
import { ByteWriter } from '../../base/structures/byte-writer.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { FindRecord } from '../../store/store-port.ts';
import {
  requestBodyCollection, type InlineBody, type StoredRequestHead,
} from '../incoming/stored-request.ts';

const INLINE_BODY_BYTES_MAX = 16 * 1024;
/** Control characters take six bytes each in JSON. Above this growth base64 is used. */
const TEXT_GROWTH_MAX = 2;

// Behind the last member that is not the body, the first match is the body (request-codec.ts): no
// unescaped quote is inside a string.
export const BODY_MARK = Buffer.from(',"body');
export const BODY_APART = '"body":null';

const writer = new ByteWriter();

/** null: the body needs a record of its own. */
export function createInlineBody(body: Buffer): InlineBody | null {
  return body.length > INLINE_BODY_BYTES_MAX ? null : { bytes: body, isEncoded: false };
}

export function appendInlineBody(record: ByteWriter, { bytes, isEncoded }: InlineBody): void {
  if (isEncoded) record.addBytes(bytes);
  else appendBody(record, bytes);
}

/** Encodes the record of a body. The result is valid until the next call. */
export function encodeBodyRecord(id: string, body: Buffer): Buffer {
  writer.clear();
  writer.addText(`{"id":"${id}",`);
  appendBody(writer, body);
  writer.addText('}');
  return writer.bytes;
}

function appendBody(record: ByteWriter, body: Buffer): void {
  const before = record.length;
  if (isUtf8(body)) {
    record.addText('"bodyText":');
    if (record.addJsonString(body, body.length * TEXT_GROWTH_MAX + 2)) return;
    record.cut(before);
  }
  record.addText(`"body":"${body.toString('base64')}"`);
}

/** Decodes the last member of a record, which is the body. */
function decodeBody(member: Buffer): Buffer {
  const members = decodeRecordAs<{ readonly bodyText?: string; readonly body?: string }>(
    `{${member}}`, ({ bodyText, body }) => typeof (bodyText ?? body) === 'string');
  const { bodyText, body = '' } = members;
  return bodyText === undefined ? Buffer.from(body, 'base64') : Buffer.from(bodyText, 'utf8');
}

const START_LENGTH = 80;
/** A character is at most four bytes in UTF-8, and six where JSON escapes it. */
const START_BYTES = START_LENGTH * 6;
/** Stands before the text of a body, and behind the id in a record of its own. */
const TEXT_MARK = Buffer.from('"bodyText":"');
const MARK_BYTES_MAX = 200;

/**
 * Reads the first 80 characters of a body, secrets hidden, and no more of it than they need; null:
 * the body is no text, or is gone. An encoded `body` is the member or the record of a body.
 */
export function readBodyStart(body: InlineBody | undefined): string | null {
  if (body === undefined) return null;
  const { bytes, isEncoded } = body;
  if (!isEncoded) return decodeStart(bytes.subarray(0, START_BYTES));
  const markAt = bytes.subarray(0, MARK_BYTES_MAX).indexOf(TEXT_MARK);
  if (markAt === -1) return null;
  const textAt = markAt + TEXT_MARK.length;
  const json = bytes.toString('utf8', textAt, textAt + START_BYTES);
  return redactText(String(JSON.parse(`"${json.slice(0, findStartEnd(json, true))}"`)));
}

/** Decodes the beginning of a text, which may end within a character; null: it is not UTF-8. */
function decodeStart(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      .decode(bytes, { stream: true });
    return redactText(text.slice(0, findStartEnd(text, false)));
  } catch {
    return null;
  }
}

/** Finds the end of the first 80 characters of a text; `isJson`: the text is in a JSON string. */
function findStartEnd(text: string, isJson: boolean): number {
  let end = 0;
  for (let count = 0; count < START_LENGTH && end < text.length; count += 1) {
    if (isJson && text[end] === '"') break;
    if (isJson && text[end] === '\\') end += text[end + 1] === 'u' ? 6 : 2;
    else end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return end;
}

/**
 * Returns the body of a request. Throws `damaged` when `find` does not find the record that a body
 * should have of its own.
 */
export function getRequestBody(
  { id, inlineBody }: Pick<StoredRequestHead, 'id' | 'inlineBody'>, find: FindRecord,
): Buffer {
  if (inlineBody !== null) {
    return inlineBody.isEncoded ? decodeBody(inlineBody.bytes) : inlineBody.bytes;
  }
  const record = find(requestBodyCollection.name, id);
  if (record === undefined) throw new AppError('damaged', `the body of request ${id} is gone`);
  return decodeBody(record.subarray(record.indexOf(BODY_MARK) + 1, record.length - 1));
}
