/** Writes the lines of a journal: see journal-line.ts. */
import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.ts';
import { CRC_END, CRC_START, HEX, JOURNAL_FORMAT } from './journal-line.ts';
import type { Operation } from '../store-port.ts';

const RETAINED_BYTES_MAX = 4 << 20;
/** Bytes of an operation that are not its record, mostly. */
const OPERATION_BYTES_MAX = 256;

export type JournalNote = { readonly mark: true } | { readonly snapshots: readonly string[] }
  | { readonly next: number }
  | { readonly start: { readonly format: string; readonly generation: number } };

/** Gathers the lines of one write. */
export class JournalLineEncoder {
  /** The length of all lines, in bytes. */
  length = 0;
  #buffer = Buffer.allocUnsafeSlow(1 << 16);

  /** Valid until the next `clear`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  clear(): void {
    this.length = 0;
    if (this.#buffer.length > RETAINED_BYTES_MAX) this.#buffer = Buffer.allocUnsafeSlow(1 << 16);
  }

  /** Makes room for transactions at once: room made line by line copies each line again. */
  reserve(transactions: readonly (readonly Operation[])[]): void {
    let bytesTotal = 0;
    for (const operations of transactions) {
      for (const { bytes } of operations) bytesTotal += OPERATION_BYTES_MAX + (bytes?.length ?? 0);
    }
    this.#addText('', bytesTotal);
  }

  addTransaction(
    sequence: number, durable: number, operations: readonly Operation[],
  ): void {
    assert(durable < sequence, 'a transaction is not on disk before it is written');
    assert(operations.length > 0, 'a transaction in the journal has operations');
    const start = this.length;
    // All text between two records is encoded as one string.
    let text = `{"crc":"00000000","seq":${sequence},"durable":${durable},"ops":[`;
    let separator = '';
    for (const [index, { collection, id, bytes, isImplied }] of operations.entries()) {
      if (isImplied === true) continue;
      if (bytes === null) {
        text += `${separator}{"delete":"${collection}","key":"${id}"}`;
      } else {
        const implies = operations[index + 1]?.isImplied === true ? ',"implies":true' : '';
        text += `${separator}{"put":"${collection}","bytes":${bytes.length}${implies},"record":`;
        this.#addText(text, bytes.length);
        this.length += bytes.copy(this.#buffer, this.length);
        text = '}';
      }
      separator = ',';
    }
    this.#addText(`${text}]}\n`, 0);
    this.#writeChecksum(start);
  }

  addStart(sequence: number, generation: number): void {
    this.addNote(sequence, { start: { format: JOURNAL_FORMAT, generation } });
  }

  /** A note is only written while everything before it is on disk. */
  addNote(sequence: number, note: JournalNote): void {
    const start = this.length;
    const member = JSON.stringify(note).slice(1);
    this.#addText(`{"crc":"00000000","seq":${sequence},"durable":${sequence},${member}\n`, 0);
    this.#writeChecksum(start);
  }

  #addText(ascii: string, bytesAfter: number): void {
    const requiredLength = this.length + ascii.length + bytesAfter;
    if (requiredLength > this.#buffer.length) {
      const largerLength = Math.max(requiredLength, this.#buffer.length * 2);
      const largerBuffer = Buffer.allocUnsafeSlow(largerLength);
      this.#buffer.copy(largerBuffer, 0, 0, this.length);
      this.#buffer = largerBuffer;
    }
    if (ascii !== '') this.length += this.#buffer.write(ascii, this.length, 'latin1');
  }

  #writeChecksum(start: number): void {
    let crc = crc32(this.#buffer.subarray(start + CRC_END, this.length - 1));
    for (let index = CRC_END - 1; index >= CRC_START; index -= 1) {
      this.#buffer[start + index] = HEX[crc & 15] ?? 0;
      crc >>>= 4;
    }
  }
}
