/**
 * The body of a kept request. In its record, or in one of its own, it is the last member:
 * `"bodyText"` where it is valid UTF-8, else `"body"` in base64. It lies apart when it is large, or
 * when its request is still to be run, so that the result does not write it again: `"body":null`
 * stands in the request then, and `{"id","bodyText"}` or `{"id","body"}` in the collection
 * `request-bodies`, which is written once and goes with its request.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../base/errors.ts';
import { ByteWriter } from '../../base/structures/byte-writer.ts';
import { decodeRecordAs } from '../../resources/record.ts';
import type { InlineBody, StoredRequest, RequestStatus } from './stored-request.ts';

const INLINE_BODY_BYTES_MAX = 16 * 1024;
/** Of a request that is to be run. A smaller one costs less written twice than as a record. */
const PENDING_BODY_BYTES_MAX = 256;
/** Control characters take six bytes each in JSON: then base64 is what is shorter. */
const TEXT_GROWTH_MAX = 2;

// A plain quote cannot stand inside a string, and nothing follows the body.
export const BODY_MARK = Buffer.from(',"body');
export const BODY_APART = '"body":null';

const writer = new ByteWriter();

/** `carried` of a new request; null: the body is to have a record of its own. */
export function createInlineBody(body: Buffer, status: RequestStatus): InlineBody | null {
  const bytesMax = status === 'pending' ? PENDING_BODY_BYTES_MAX : INLINE_BODY_BYTES_MAX;
  return body.length > bytesMax ? null : { bytes: body, isEncoded: false };
}

/** As the last member of a record that is being written. */
export function appendInlineBody(record: ByteWriter, { bytes, isEncoded }: InlineBody): void {
  if (isEncoded) record.addBytes(bytes);
  else appendBody(record, bytes);
}

/** Good until the next body is encoded. */
export function encodeBodyRecord(id: string, body: Buffer): Buffer {
  writer.clear();
  writer.addText(`{"id":"${id}",`);
  appendBody(writer, body);
  writer.addText('}');
  return writer.bytes;
}

/** A body as a member of a record. */
function appendBody(record: ByteWriter, body: Buffer): void {
  const before = record.length;
  if (isUtf8(body)) {
    record.addText('"bodyText":');
    if (record.addJsonString(body, body.length * TEXT_GROWTH_MAX + 2)) return;
    record.cut(before);
  }
  record.addText(`"body":"${body.toString('base64')}"`);
}

/** The body in a record of `request-bodies`. */
function decodeBodyRecord(bytes: Buffer): Buffer {
  return decodeBody(bytes.subarray(bytes.indexOf(BODY_MARK) + 1, bytes.length - 1));
}

/** The body that the last member of a record holds. */
function decodeBody(member: Buffer): Buffer {
  const members = decodeRecordAs<{ readonly bodyText?: string; readonly body?: string }>(
    `{${member}}`, ({ bodyText, body }) => typeof (bodyText ?? body) === 'string');
  const { bodyText, body = '' } = members;
  return bodyText === undefined ? Buffer.from(body, 'base64') : Buffer.from(bodyText, 'utf8');
}

/** A request's body; `findApart` gives its record of its own. Throws `damaged` without one. */
export function getRequestBody(
  request: StoredRequest, findBodyRecord: () => Buffer | undefined,
): Buffer {
  const { inlineBody } = request;
  if (inlineBody !== null) {
    return inlineBody.isEncoded ? decodeBody(inlineBody.bytes) : inlineBody.bytes;
  }
  const bodyRecord = findBodyRecord();
  if (bodyRecord !== undefined) return decodeBodyRecord(bodyRecord);
  throw new AppError('damaged', `the body of request ${request.id} is gone`);
}
