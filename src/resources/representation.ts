/** A record as callers see it, with the headers that state its version (RFC 9110 §8.8). */
import { crc32 } from 'node:zlib';
import { formatHttpDate } from '../base/clock.ts';
import type { JsonObject } from '../base/schema.ts';
import { parseHeaderText } from '../server/exchange/header-text.ts';
import type { HeaderList, HeaderText } from '../server/http-route.ts';

/** A record in a list. */
export type PublicRecord = { readonly id: string; readonly bytes: Buffer };

/** Members that callers see and the record does not store: they change without a write of it. */
export type Observation = {
  readonly members: JsonObject;
  /** When the members or the record changed last, in milliseconds since the epoch. */
  readonly changedAtMs: number;
};

/** The JSON of a record and of its observation, apart, for the two parts of the tag. */
type ObservedContent = {
  readonly configuration: Buffer;
  readonly observation: Buffer;
  readonly changedAtMs: number;
};

/** One version of a record. Tag and headers are made at their first use. */
export class Representation implements PublicRecord {
  readonly id: string;
  readonly bytes: Buffer;
  /** When the record was last written. */
  readonly updatedAtMs: number;
  /** When the representation changed last. */
  readonly changedAtMs: number;
  /** Whether it has an observation, so that the first part of the tag is the record's version. */
  readonly isObserved: boolean;
  readonly #observed: ObservedContent | null;
  #etag: string | null = null;
  #headerText: string | null = null;

  constructor(
    id: string, bytes: Buffer, updatedAtMs: number, observedContent: ObservedContent | null = null,
  ) {
    this.id = id;
    this.bytes = bytes;
    this.updatedAtMs = updatedAtMs;
    this.changedAtMs = observedContent?.changedAtMs ?? updatedAtMs;
    this.isObserved = observedContent !== null;
    this.#observed = observedContent;
  }

  /**
   * A strong tag: `updatedAt` rises with every write of a record, and a checksum tells apart the
   * representations of one write. With an observation it is `"<record>-<observation>"`.
   */
  get etag(): string {
    this.#etag ??= this.#makeEtag();
    return this.#etag;
  }

  /** Media type, tag and date. All are our own text, so nothing need be checked. */
  get headerText(): HeaderText {
    // Without Cache-Control a cache may use it for a tenth of its age (RFC 9111 §4.2.2).
    this.#headerText ??= `Content-Type: application/json\r\nETag: ${this.etag}\r\n`
      + `Last-Modified: ${formatHttpDate(this.changedAtMs)}\r\nCache-Control: no-cache\r\n`;
    return this.#headerText;
  }

  get headers(): HeaderList {
    return parseHeaderText(this.headerText);
  }

  #makeEtag(): string {
    const time = timeTag(this.updatedAtMs);
    if (this.#observed === null) return `"${time}-${checksumTag(this.bytes)}"`;
    const { configuration, observation } = this.#observed;
    return `"${time}${checksumTag(configuration)}-${checksumTag(observation)}"`;
  }
}

let lastMs = NaN;
let lastTag = '';

/** The last tag is cached: records that are written together mostly have the same time. */
function timeTag(ms: number): string {
  if (ms !== lastMs) {
    lastTag = ms.toString(36);
    lastMs = ms;
  }
  return lastTag;
}

/**
 * Eight hex digits. The halves are formatted apart: for small integers it takes a fifth of the
 * time.
 */
function checksumTag(bytes: Buffer): string {
  const sum = crc32(bytes);
  return formatHexHalf(sum >>> 16) + formatHexHalf(sum & 0xffff);
}

function formatHexHalf(half: number): string {
  return half.toString(16).padStart(4, '0');
}
