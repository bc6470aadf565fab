/** A record as callers see it, with its version and the headers that say so (RFC 9110 §8.8). */
import { crc32 } from 'node:zlib';
import { formatHttpDate } from '../base/clock.ts';
import type { JsonObject } from '../base/schema.ts';
import { parseHeaderText } from '../server/exchange/header-text.ts';

/** What a list holds of a record. */
export type PublicRecord = { readonly id: string; readonly bytes: Buffer };

/** Members that are shown with a record and not stored in it: they change without a write of it. */
export type Observation = {
  readonly members: JsonObject;
  /** When they or the record changed last, in milliseconds since the epoch. */
  readonly changedAtMs: number;
};

/** A record that is shown with an observation: the two apart, as JSON. */
type ObservedContent = {
  readonly configuration: Buffer;
  readonly observation: Buffer;
  readonly changedAtMs: number;
};

/** Of one version of a record; what it derives from the bytes is made once. */
export class Representation implements PublicRecord {
  readonly id: string;
  readonly bytes: Buffer;
  /** When the record was last written. */
  readonly updatedAtMs: number;
  /** When what is shown last changed. */
  readonly changedAtMs: number;
  /** Whether the first part of the tag alone tells versions of the record. */
  readonly isObserved: boolean;
  readonly #observed: ObservedContent | null;
  #etag: string | null = null;
  #headerText: string | null = null;

  constructor(
    id: string, bytes: Buffer, updatedAtMs: number, observed: ObservedContent | null = null,
  ) {
    this.id = id;
    this.bytes = bytes;
    this.updatedAtMs = updatedAtMs;
    this.changedAtMs = observed?.changedAtMs ?? updatedAtMs;
    this.isObserved = observed !== null;
    this.#observed = observed;
  }

  /**
   * Strong: `updatedAt` rises with every write of a record, and the checksum tells apart what is
   * shown of one write. With an observation the tag is `"<record>-<observation>"`.
   */
  get etag(): string {
    this.#etag ??= this.#makeEtag();
    return this.#etag;
  }

  /** Media type, tag and date, as they are sent: all ours, so that nothing need be checked. */
  get headerText(): string {
    // Without Cache-Control a cache may take a tenth of the age for fresh (RFC 9111 §4.2.2).
    this.#headerText ??= `Content-Type: application/json\r\nETag: ${this.etag}\r\n`
      + `Last-Modified: ${formatHttpDate(this.changedAtMs)}\r\nCache-Control: no-cache\r\n`;
    return this.#headerText;
  }

  /** The same as a flat list. */
  get headers(): readonly string[] {
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

/** The last one is kept: records that are written together mostly have the same time. */
function timeTag(ms: number): string {
  if (ms !== lastMs) {
    lastTag = ms.toString(36);
    lastMs = ms;
  }
  return lastTag;
}

/** Eight hex digits. The halves apart: small integers are written in a fifth of the time. */
function checksumTag(bytes: Buffer): string {
  const sum = crc32(bytes);
  return formatHexHalf(sum >>> 16) + formatHexHalf(sum & 0xffff);
}

function formatHexHalf(half: number): string {
  return half.toString(16).padStart(4, '0');
}
