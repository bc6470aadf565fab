/** A record as callers see it, with the headers that state its version (RFC 9110 §8.8). */
import { crc32 } from 'node:zlib';
import { formatHttpDate } from '../base/clock.ts';
import { encodeJson } from '../base/json/encode.ts';
import { parseHeaderText } from '../server/exchange/header-text.ts';
import type { HeaderList, HeaderText } from '../server/http-route.ts';
import type { StoredRecord } from '../store/store-port.ts';
import { decodeRecord, readUpdatedMs } from './record.ts';
import type { Resource } from './resource.ts';

export type PublicRecord = { readonly id: string; readonly bytes: Buffer };

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

  /** Media type, tag and date, which are our own text and need no check. */
  get headerText(): HeaderText {
    // Without Cache-Control a cache may use the record for a tenth of its age (RFC 9111 §4.2.2).
    this.#headerText ??= `Content-Type: application/json\r\nETag: ${this.etag}\r\n`
      + `Last-Modified: ${formatHttpDate(this.changedAtMs)}\r\nCache-Control: no-cache\r\n`;
    return this.#headerText;
  }

  /**
   * The version for a caller who does not see all observed members: `show` makes the JSON for him,
   * from which the tag follows.
   */
  view(show: (bytes: Buffer) => Buffer): Representation {
    const bytes = show(this.bytes);
    if (bytes === this.bytes || this.#observed === null) return this;
    const { configuration } = this.#observed;
    // The JSON is that of both objects, joined.
    const observation = Buffer.concat([Buffer.from('{'), bytes.subarray(configuration.length)]);
    return new Representation(this.id, bytes, this.updatedAtMs, { ...this.#observed, observation });
  }

  get headers(): HeaderList {
    return parseHeaderText(this.headerText);
  }

  #makeEtag(): string {
    const time = this.updatedAtMs.toString(36);
    if (this.#observed === null) return `"${time}-${checksumTag(this.bytes)}"`;
    const { configuration, observation } = this.#observed;
    return `"${time}${checksumTag(configuration)}-${checksumTag(observation)}"`;
  }
}

type ShownResource = Pick<Resource, 'collection' | 'toPublic' | 'observe'>;

/**
 * Gets the representation of a stored record. A representation by the stored bytes is cached beside
 * them, as making it costs more than finding the record; with bytes of its own it would take too
 * much memory.
 */
export function getRepresentation(
  resource: ShownResource, id: string, storedRecord: StoredRecord,
): Representation {
  const { bytes, representation: cachedRepresentation } = storedRecord;
  if (resource.toPublic !== undefined) return createRepresentation(resource, id, bytes);
  if (cachedRepresentation instanceof Representation) return cachedRepresentation;
  const representation = createRepresentation(resource, id, bytes);
  storedRecord.representation = representation;
  return representation;
}

export function createRepresentation(
  resource: ShownResource, id: string, bytes: Buffer,
): Representation {
  const { toPublic, observe, collection: { key } } = resource;
  const updatedMs = readUpdatedMs(key, id, bytes);
  if (toPublic === undefined || observe === undefined) {
    return new Representation(id, encodePublicRecord(resource, bytes), updatedMs);
  }
  const record = decodeRecord(bytes);
  const configuration = Buffer.from(encodeJson(toPublic(record)));
  const { members, changedAtMs } = observe(record);
  const observation = Buffer.from(encodeJson(members));
  return new Representation(id, joinObjects(configuration, observation), updatedMs,
    { configuration, observation, changedAtMs });
}

export function encodePublicRecord({ toPublic, observe }: ShownResource, bytes: Buffer): Buffer {
  if (toPublic === undefined) return bytes;
  const record = decodeRecord(bytes);
  return Buffer.from(encodeJson({ ...toPublic(record), ...observe?.(record).members }));
}

/** Joins the JSON of two objects, neither of them empty, to one object. */
function joinObjects(left: Buffer, right: Buffer): Buffer {
  return Buffer.concat([left.subarray(0, -1), Buffer.from(','), right.subarray(1)]);
}

/** Eight hex digits. */
function checksumTag(bytes: Buffer): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}
