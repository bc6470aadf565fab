/** Makes the payload of a plain body, in the format that the webhook's `bodyFormat` names. Pure. */
import { isUtf8 } from 'node:buffer';
import { parseJsonText } from '../../base/json/exact-parser.ts';
import { explainInvalidJson } from '../../base/json/parse.ts';
import type { JsonValue } from '../../base/schema.ts';
import { findDeclaredCharset } from '../../base/text/charset.ts';
import { quote } from '../../base/text/error-message.ts';
import { decodePayload, toPayload, type Payload } from '../actions/action-payload.ts';
import {
  FORM_TYPE, hasTooManyFields, parseMediaType, parseForm, resolveCharset, toUtf8,
} from '../../base/text/parse-form.ts';
import {
  MULTIPART_TYPE, findUndecodedField, isMultipartType, parseMultipart,
} from '../senders/request/parse-multipart.ts';
import { isDecoded, type PlainBody } from '../senders/request/plain-body.ts';
import type { RequestReader } from '../senders/request/request-reader.ts';
import { toSourceList, type Scheme, type ValueSource } from '../senders/scheme/scheme.ts';
import { isJsonType } from '../members/templates/content-type.ts';

export const BODY_FORMATS = ['json', 'form', 'text', 'auto', 'multipart'] as const;
export type BodyFormat = typeof BODY_FORMATS[number];

export type BodyKind = Exclude<BodyFormat, 'auto'>;

type BodyMembers = {
  readonly bodyFormat?: BodyFormat; readonly jsonFields?: readonly string[];
};

export type BodyReading = {
  readonly format: BodyFormat;
  readonly plainBytesMax: number;
  /** The field of a form that holds the payload as JSON. */
  readonly formField: string | null;
  /** The fields of a form whose values become the JSON that they hold. */
  readonly jsonFields: readonly string[];
  /** The places of the sender's signature, or of the secret itself. */
  readonly secretSources: readonly ValueSource[];
};

export function resolveBodyReading(
  { bodyFormat, jsonFields = [] }: BodyMembers, scheme: Scheme | null, plainBytesMax: number,
): BodyReading {
  const payload = scheme?.payload;
  return {
    format: bodyFormat ?? resolveSchemeFormat(scheme),
    formField: typeof payload === 'object' ? payload.formField : null,
    plainBytesMax, jsonFields, secretSources: toSourceList(scheme?.signature.from),
  };
}

/** The format where a webhook has no `bodyFormat`; `scheme` is null without a `verification`. */
export function resolveSchemeFormat(scheme: { readonly payload?: unknown } | null): BodyFormat {
  if (scheme === null) return 'json';
  return BODY_FORMATS.find((format) => format === scheme.payload) ?? 'auto';
}

/** The kind that a body is read as; null: no payload can be made of it. */
export function resolveBodyKind(
  format: BodyFormat, contentType: string | undefined,
): BodyKind | null {
  return format === 'auto' ? findKind(parseMediaType(contentType)) : format;
}

/** null: the body is not of that kind, so that actions get the empty array. */
export function readPayload(
  body: Buffer, contentType: string | undefined, kind: BodyKind, reading: FieldReading,
): Payload | null {
  if (kind === 'form') return decodeFields(parseForm(body, contentType), reading);
  if (kind === 'multipart') return decodeFields(parseMultipart(body, contentType), reading);
  const text = toUtf8(body, contentType);
  if (text === null) return null;
  if (kind === 'json') return decodePayload(text);
  return isUtf8(text) ? { text: text.toString('utf8') } : null;
}

/** Reads the payload of a request whose body its verification may have parsed already. */
export function readParsedPayload(
  reader: RequestReader, plainBody: Buffer, kind: BodyKind, reading: FieldReading,
): Payload | null {
  const { 'content-type': contentType } = reader.request.headers;
  const isMultipart = isMultipartType(contentType);
  if (kind === 'form' && reader.isForm()) return decodeFields(reader.form(), reading);
  if (kind === 'multipart' && isMultipart) return decodeFields(reader.multipart(), reading);
  if (kind === 'json' && !reader.isForm() && !isMultipart) return toPayload(reader.json());
  return readPayload(plainBody, contentType, kind, reading);
}

/** Bytes of a body that are searched for the look of a form. */
const FORM_LOOK_BYTES = 1024;
const FORM_START = /^[\w.~%+[\]-]+=[^\s=]/;

/** The format in which a payload could be made of a body, other than `triedKind`; null: in none. */
export function findFittingFormat(
  body: Buffer, contentType: string | undefined, triedKind: BodyKind | null,
): BodyKind | null {
  const text = toUtf8(body, contentType);
  if (text === null) return null;
  // JSON is not tried twice: parsing it can take long.
  if (triedKind !== 'json' && decodePayload(text) !== null) return 'json';
  if (triedKind !== 'multipart' && isMultipartType(contentType)
    && parseMultipart(body, contentType) !== null) return 'multipart';
  const start = body.toString('latin1', 0, FORM_LOOK_BYTES);
  const isForm = parseMediaType(contentType) === FORM_TYPE
    || FORM_START.test(start) && !/\s/.test(start);
  if (isForm && triedKind !== 'form' && parseForm(body, contentType) !== null) return 'form';
  return triedKind !== 'text' && isUtf8(text) ? 'text' : null;
}

/** Explains why actions get no payload of a body, and what to do; null: they get a payload. */
export function explainUnparsed(
  reading: FieldReading & Pick<BodyReading, 'format'>, body: PlainBody,
  contentType: string | undefined,
): string | null {
  if (!isDecoded(body)) return `${body.reason}, so that actions get the payload []: ${NO_FORMAT}`;
  if (body.length === 0) return null;
  const kind = resolveBodyKind(reading.format, contentType);
  if (kind !== null && readPayload(body, contentType, kind, reading) !== null) return null;
  const wrongJson = explainWrongJson(kind, body, contentType);
  if (wrongJson !== null) return `${wrongJson}, so that actions get the payload []`;
  const fittingFormat = findFittingFormat(body, contentType, kind);
  const hint = fittingFormat === null ? NO_FORMAT : `bodyFormat "${fittingFormat}" would fit`;
  const typeText = contentType === undefined ? 'the request has no Content-Type'
    : `no payload is made of the Content-Type ${quote(contentType)}`;
  const reason = kind === null ? typeText
    : explainUnreadable(kind, body, contentType, reading.formField);
  return `${reason}, so that actions get the payload []: ${hint}`;
}

const NO_FORMAT = 'no bodyFormat fits: an action has its bytes in `context.body`';

function explainUnreadable(
  kind: BodyKind, body: Buffer, contentType: string | undefined, formField: string | null,
): string {
  const isForm = kind === 'form' || kind === 'multipart';
  const wrongCharset = explainCharset(kind, body, contentType);
  if (wrongCharset !== null) return wrongCharset;
  const isWholeForm = isForm && formField !== null
    && readPayload(body, contentType, kind, { formField: null, jsonFields: [] }) !== null;
  return isWholeForm ? `the field ${quote(formField)} of the form holds no JSON object or array`
    : UNREADABLE_REASONS[kind];
}

/** Why a body is not in the charset that it declares; null: it is, or declares none. */
export function explainCharset(
  kind: BodyKind, body: Buffer, contentType: string | undefined,
): string | null {
  if (kind === 'multipart') {
    const field = findUndecodedField(body, contentType);
    return field === null ? null
      : `the field ${quote(field)} is not in the charset that is declared, or that one is unknown`;
  }
  if (resolveCharset(contentType) === 'unknown') {
    return `the charset ${quote(findDeclaredCharset(contentType))} of its Content-Type is unknown`;
  }
  const isForm = kind === 'form';
  const isDecoded = isForm ? hasTooManyFields(body) || parseForm(body, contentType) !== null
    : toUtf8(body, contentType) !== null;
  return isDecoded ? null : 'the body is not in the charset that its Content-Type declares';
}

/** In longer bodies no fault is looked for, which takes up to 55 ns a byte. */
const EXPLAINED_BYTES_MAX = 65_536;

/**
 * Why a body that its Content-Type calls JSON gives no payload; null: it is called something else,
 * or its charset cannot be read. No other `bodyFormat` mends that: the sender's good requests are
 * JSON.
 */
export function explainWrongJson(
  kind: BodyKind | null, body: Buffer, contentType: string | undefined,
): string | null {
  if (kind !== 'json' || contentType === undefined || !isJsonType(contentType)) return null;
  const text = toUtf8(body, contentType);
  if (text === null || !isUtf8(text)) return null;
  const problem = text.length > EXPLAINED_BYTES_MAX ? null : explainInvalidJson(text);
  return problem === null ? UNREADABLE_REASONS.json : `the body is ${problem}`;
}

const UNREADABLE_REASONS: Readonly<Record<BodyKind, string>> = {
  json: 'the body is no JSON object or array', form: 'the body holds no form that can be read',
  text: 'the body is no UTF-8 text',
  multipart: 'the body is no whole multipart form with the boundary of its Content-Type',
};

function findKind(mediaType: string): BodyKind | null {
  if (isJsonType(mediaType)) return 'json';
  if (mediaType === FORM_TYPE) return 'form';
  if (mediaType === MULTIPART_TYPE) return 'multipart';
  return mediaType.startsWith('text/') ? 'text' : null;
}

type FieldReading = Pick<BodyReading, 'formField' | 'jsonFields'>;

/** Makes the payload of fields by name. A name that is repeated has an array. */
function decodeFields(
  fields: ReadonlyMap<string, readonly JsonValue[]> | null,
  { formField, jsonFields }: FieldReading,
): Payload | null {
  if (fields === null) return null;
  const json = formField === null ? undefined : fields.get(formField)?.[0];
  if (typeof json === 'string') return decodePayload(Buffer.from(json, 'utf8'));
  const payload: Record<string, JsonValue> = {};
  for (const [name, texts] of fields) {
    const values = jsonFields.includes(name) ? texts.map(parseFieldJson) : texts;
    const value = values.length === 1 ? values[0] ?? null : values;
    if (name !== '__proto__') payload[name] = value;
    else Object.defineProperty(payload, name, { ...OWN_MEMBER, value });
  }
  return payload;
}

/** The JSON that a field holds; a text that is none stays as it is, and so does a file. */
function parseFieldJson(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  try {
    return parseJsonText(value) as JsonValue;
  } catch {
    return value;
  }
}

const OWN_MEMBER = { enumerable: true, configurable: true, writable: true };
