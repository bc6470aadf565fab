/** A record as callers see it, with its version and the headers that say so (RFC 9110 §8.8). */
import { crc32 } from 'node:zlib';
import { headerLines } from '../server/exchange/header-lines.ts';

/** What a list holds of a record. */
export type ShownRecord = { readonly id: string; readonly bytes: Buffer };

/** Of one version of a record; what it derives from the bytes is made once. */
export class Representation implements ShownRecord {
  readonly id: string;
  readonly bytes: Buffer;
  readonly updatedAtMs: number;
  #etag: string | null = null;
  #headerLines: string | null = null;

  constructor(id: string, bytes: Buffer, updatedAtMs: number) {
    this.id = id;
    this.bytes = bytes;
    this.updatedAtMs = updatedAtMs;
  }

  /**
   * Strong: `updatedAt` rises with every write of a record, and the checksum tells apart what is
   * shown of one write.
   */
  get etag(): string {
    this.#etag ??=
      `"${this.updatedAtMs.toString(36)}-${crc32(this.bytes).toString(16).padStart(8, '0')}"`;
    return this.#etag;
  }

  /** Media type, tag and date, as a flat list. */
  get headers(): readonly string[] {
    return [
      'Content-Type', 'application/json',
      'ETag', this.etag,
      'Last-Modified', new Date(this.updatedAtMs).toUTCString(),
      // Without it a cache may take a tenth of the age for fresh (RFC 9111 §4.2.2).
      'Cache-Control', 'no-cache',
    ];
  }

  /** The same as they are sent. */
  get headerLines(): string {
    this.#headerLines ??= headerLines(this.headers);
    return this.#headerLines;
  }
}
