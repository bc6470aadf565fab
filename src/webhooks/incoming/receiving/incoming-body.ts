/**
 * The body of a request of an incoming webhook, and what is made of it: the payload that actions
 * get, and its JSON. Each is made when it is first asked for, once for all routes of the request: a
 * payload can be twenty times as large as its body, and takes as long to make. Nobody changes it:
 * an action of one's own gets a copy. Most bodies came plain and are JSON in UTF-8; others have a
 * Content-Encoding or another charset, or are a form, a multipart body or a text.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { encodeJson } from '../../../base/json/encode.ts';
import { isJsonContainer } from '../../../base/json/parse.ts';
import { estimateParsedBytes } from '../../../base/json/parsed-size.ts';
import type { JsonValue } from '../../../base/schema.ts';
import type { Payload } from '../../actions/action-payload.ts';
import type { UnparsedBody } from '../stored-request.ts';
import { FORM_FIELDS_MAX, hasTooManyFields, toUtf8 } from '../../../base/text/parse-form.ts';
import { PARTS_MAX, hasTooManyParts } from '../../senders/request/parse-multipart.ts';
import { decodeBody, isDecoded, type PlainBody } from '../../senders/request/plain-body.ts';
import type { RequestReader } from '../../senders/request/request-reader.ts';
import {
  explainCharset, explainWrongJson, findFittingFormat, readParsedPayload, readPayload,
  resolveBodyKind, type BodyKind, type BodyReading,
} from '../body-format.ts';

/** JSON of fewer bytes is parsed as fast as it is scanned. */
const SCANNED_BYTES_MIN = 32_768;

/** A route may hold a text or a copy for a worker of a body, and what it writes of the body. */
const COPIES_PER_ROUTE = 2;

export class IncomingBody {
  /** The bytes as they came. */
  readonly received: Buffer;
  readonly #contentType: string | undefined;
  readonly #encoding: string | undefined;
  readonly #reading: BodyReading;
  readonly #reader: RequestReader | null;
  /** null: no payload can be made of bodies of that type. */
  readonly #kind: BodyKind | null;
  #plainBody: PlainBody | null = null;
  #payload: Payload | null | undefined;
  #json: Buffer | null | undefined;

  /** `reader` is that of the verification, which may have parsed the body; null: there is none. */
  constructor(
    received: Buffer, headers: IncomingHttpHeaders, reading: BodyReading,
    reader: RequestReader | null = null,
  ) {
    this.received = received;
    this.#contentType = headers['content-type'];
    this.#encoding = headers['content-encoding'];
    this.#reading = reading;
    this.#reader = reader;
    this.#kind = resolveBodyKind(reading.format, this.#contentType);
  }

  /** The body without its Content-Encoding; null: that cannot be taken off. */
  get plain(): Buffer | null {
    // Nearly all bodies come so.
    if (this.#encoding === undefined) return this.received;
    const body = this.#decode();
    return isDecoded(body) ? body : null;
  }

  /** The length of what payloads and events are made of. */
  get contentBytes(): number {
    return (this.plain ?? this.received).length;
  }

  /** The bytes that it takes in memory while no payload is made of it. */
  get heldBytes(): number {
    const { received, plain } = this;
    return received.length + (plain === received || plain === null ? 0 : plain.length);
  }

  /** null: no payload can be made of the body, so that actions get the empty payload. */
  readPayload(): Payload | null {
    if (this.#payload === undefined) this.#payload = this.#makePayload();
    return this.#payload;
  }

  /** The payload as JSON; null: none can be made. */
  readJson(): Buffer | null {
    if (this.#json === undefined) this.#json = this.#makeJson();
    return this.#json;
  }

  /** For a body of which no payload can be made. */
  explainUnparsed(): UnparsedBody {
    const body = this.#decode();
    if (!isDecoded(body)) return { fittingFormat: null, reason: body.reason };
    const reason = this.#kind === null ? null
      : explainCharset(this.#kind, body, this.#contentType)
        ?? explainWrongJson(this.#kind, body, this.#contentType);
    return reason === null
      ? { fittingFormat: findFittingFormat(body, this.#contentType, this.#kind) }
      : { fittingFormat: null, reason };
  }

  /** The bytes that the routes of its request hold while they run. They share its payload. */
  weighRun(routeCount: number): number {
    const { received } = this;
    const content = this.plain ?? received;
    const decodedBytes = content === received ? 0 : content.length;
    return estimateParsedBytes(content) + decodedBytes
      + COPIES_PER_ROUTE * routeCount * Math.max(received.length, content.length);
  }

  /** Says that a form has more fields or parts than are read; null: it has not, or is no form. */
  findExcessFields(): string | null {
    if (this.#kind !== 'form' && this.#kind !== 'multipart') return null;
    const { plain } = this;
    if (plain === null) return null;
    if (this.#kind === 'form') {
      return hasTooManyFields(plain) ? `the form has more than ${FORM_FIELDS_MAX} fields` : null;
    }
    return hasTooManyParts(plain, this.#contentType)
      ? `the multipart body has more than ${PARTS_MAX} parts` : null;
  }

  /** Says that the plain body is larger than any body may be; null: it is not. */
  findExcessBytes(): string | null {
    if (this.#encoding === undefined) return null;
    const body = this.#decode();
    return !isDecoded(body) && body.isTooLarge ? body.reason : null;
  }

  #decode(): PlainBody {
    this.#plainBody ??= this.#reader?.plainBody()
      ?? decodeBody(this.received, this.#encoding, this.#reading.plainBytesMax);
    return this.#plainBody;
  }

  #makePayload(): Payload | null {
    const { plain } = this;
    if (this.#kind === null || plain === null) return null;
    return this.#reader === null
      ? readPayload(plain, this.#contentType, this.#kind, this.#reading)
      : readParsedPayload(this.#reader, plain, this.#kind, this.#reading);
  }

  #makeJson(): Buffer | null {
    const { plain } = this;
    if (this.#kind !== 'json' || plain === null) {
      const payload = this.readPayload();
      // A field of a form may hold JSON that is nested as deep as the body is long.
      return payload === null ? null : Buffer.from(encodeJson(payload as JsonValue));
    }
    const json = toUtf8(plain, this.#contentType);
    if (json === null) return null;
    const isScanned = this.#payload === undefined && json.length >= SCANNED_BYTES_MIN;
    const isContainer = isScanned ? isJsonContainer(json) : null;
    // The payload that is parsed here is not kept: actions that have the JSON may run for long.
    const isJson = isContainer
      ?? (this.#payload === undefined ? this.#makePayload() : this.#payload) !== null;
    return isJson ? json : null;
  }
}

/**
 * The body of one stored request: that of the last one that was asked for, as its routes mostly run
 * one after the other.
 */
export class LastBody {
  #requestId: string | null = null;
  #reading: BodyReading | null = null;
  // No call tells that the last route has run: the memory may be taken back once no run holds it.
  #body: WeakRef<IncomingBody> | null = null;

  /** `reading` says how the body is decoded. */
  share(requestId: string, reading: BodyReading, create: () => IncomingBody): IncomingBody {
    const isSame = this.#requestId === requestId && this.#reading === reading;
    const last = isSame ? this.#body?.deref() : undefined;
    if (last !== undefined) return last;
    const body = create();
    this.#requestId = requestId;
    this.#reading = reading;
    this.#body = new WeakRef(body);
    return body;
  }
}
