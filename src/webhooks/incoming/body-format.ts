/** What actions get as the payload of a body, as the webhook's `bodyFormat` says. Pure. */
import { isUtf8 } from 'node:buffer';
import type { JsonValue } from '../../base/schema.ts';
import { decodePayload, toPayload, type Payload } from '../actions/payload.ts';
import {
  FORM_TYPE, mediaTypeOf, parseForm, type ParsedForm,
} from '../senders/request/form.ts';
import type { RequestReader } from '../senders/request/reader.ts';
import { sourcesOf, type Scheme, type ValueSource } from '../senders/scheme/scheme.ts';

export const BODY_FORMATS = ['json', 'form', 'text', 'auto'] as const;
export type BodyFormat = typeof BODY_FORMATS[number];

export type BodyKind = Exclude<BodyFormat, 'auto'>;

/** How one webhook's bodies are read. */
export type BodyReading = {
  readonly format: BodyFormat;
  /** The field of a form that holds the payload as JSON. */
  readonly formField: string | null;
  /** Where the sender has its signature, or the secret itself. */
  readonly secretPlaces: readonly ValueSource[];
};

export function bodyReading(format: BodyFormat | undefined, scheme: Scheme | null): BodyReading {
  const { payload = 'auto' } = scheme ?? { payload: 'json' };
  const secretPlaces = sourcesOf(scheme?.signature.from);
  if (typeof payload === 'object') {
    return { format: format ?? 'auto', formField: payload.formField, secretPlaces };
  }
  return { format: format ?? payload, formField: null, secretPlaces };
}

/** What a body is taken for; null: for nothing that a payload could be made of. */
export function bodyKind(format: BodyFormat, contentType: string | undefined): BodyKind | null {
  return format === 'auto' ? kindOf(mediaTypeOf(contentType)) : format;
}

/** null: the body is not of that kind, and what counts is the empty array. */
export function readPayload(
  body: Buffer, kind: BodyKind, formField: string | null,
): Payload | null {
  switch (kind) {
    case 'json': return decodePayload(body);
    case 'form': return formPayload(parseForm(body), formField);
    case 'text': return isUtf8(body) ? { text: body.toString('utf8') } : null;
  }
}

/** The same for a request whose verification may have parsed the body already. */
export function readParsedPayload(
  reader: RequestReader, kind: BodyKind, formField: string | null,
): Payload | null {
  if (kind === 'form' && reader.isForm()) return formPayload(reader.form(), formField);
  if (kind === 'json' && !reader.isForm()) return toPayload(reader.json());
  return readPayload(reader.request.body, kind, formField);
}

function kindOf(mediaType: string): BodyKind | null {
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return 'json';
  if (mediaType === FORM_TYPE) return 'form';
  return mediaType.startsWith('text/') ? 'text' : null;
}

function formPayload(form: ParsedForm | null, formField: string | null): Payload | null {
  if (form === null) return null;
  const json = formField === null ? undefined : form.fields.get(formField)?.[0];
  if (json !== undefined) return decodePayload(Buffer.from(json, 'utf8'));
  const payload: Record<string, JsonValue> = {};
  for (const [name, values] of form.fields) {
    const value = values.length === 1 ? values[0] ?? '' : values;
    if (name !== '__proto__') payload[name] = value;
    else Object.defineProperty(payload, name, { ...OWN_MEMBER, value });
  }
  return payload;
}

const OWN_MEMBER = { enumerable: true, configurable: true, writable: true };
