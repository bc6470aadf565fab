/** Writes the lines of a journal: see journal-line.ts. */
import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.ts';
import { CRC_END, CRC_START, HEX, JOURNAL_FORMAT } from './journal-line.ts';
import type { Operation } from '../store-port.ts';

const RETAINED_BYTES_MAX = 4 << 20;
/** Bytes of an operation that are not its record, mostly. */
const OPERATION_BYTES_MAX = 256;
const CLOSING_BRACE = 0x7d;
const CLOSING_BRACKET = 0x5d;
const LINE_FEED = 0x0a;

/** Gathers the lines of one write. */
export class JournalLineEncoder {
  #buffer = Buffer.allocUnsafeSlow(1 << 16);
  #used = 0;

  /** Valid until the next `clear`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#used);
  }

  /** Of all lines, in bytes. */
  get length(): number {
    return this.#used;
  }

  clear(): void {
    this.#used = 0;
    if (this.#buffer.length > RETAINED_BYTES_MAX) this.#buffer = Buffer.allocUnsafeSlow(1 << 16);
  }

  /** Makes room for transactions at once: to make it line by line copies each line again. */
  reserve(transactions: readonly (readonly Operation[])[]): void {
    const bytes = transactions.flat().reduce((sum, { bytes: record }) =>
      sum + OPERATION_BYTES_MAX + (record?.length ?? 0), 0);
    this.#addText('', bytes);
  }

  addTransaction(
    sequence: number, durable: number, operations: readonly Operation[],
  ): void {
    assert(durable < sequence, 'a transaction is not on disk before it is written');
    assert(operations.length > 0, 'a transaction in the journal has operations');
    const start = this.#used;
    // All text before a record is encoded as one string.
    let text = `{"crc":"00000000","seq":${sequence},"durable":${durable},"ops":[`;
    let separator = '';
    for (const [index, { collection, id, bytes, isImplied }] of operations.entries()) {
      if (isImplied === true) continue;
      if (bytes === null) {
        text += `${separator}{"delete":"${collection}","key":"${id}"}`;
      } else {
        const implies = operations[index + 1]?.isImplied === true ? ',"implies":true' : '';
        text += `${separator}{"put":"${collection}","bytes":${bytes.length}${implies},"record":`;
        this.#addText(text, bytes.length + 1);
        this.#used += bytes.copy(this.#buffer, this.#used);
        this.#addByte(CLOSING_BRACE);
        text = '';
      }
      separator = ',';
    }
    this.#addText(text, 3);
    this.#addByte(CLOSING_BRACKET);
    this.#addByte(CLOSING_BRACE);
    this.#addByte(LINE_FEED);
    this.#writeChecksum(start);
  }

  addMark(sequence: number): void {
    this.#addNote(sequence, '"mark":true');
  }

  addSnapshots(sequence: number, collections: readonly string[]): void {
    this.#addNote(sequence, `"snapshots":${JSON.stringify(collections)}`);
  }

  addNext(sequence: number, generation: number): void {
    this.#addNote(sequence, `"next":${generation}`);
  }

  addStart(sequence: number, generation: number): void {
    this.#addNote(sequence, `"start":{"format":"${JOURNAL_FORMAT}","generation":${generation}}`);
  }

  // A note is only written while everything before it is on disk.
  #addNote(sequence: number, member: string): void {
    const start = this.#used;
    this.#addText(`{"crc":"00000000","seq":${sequence},"durable":${sequence},${member}}\n`, 0);
    this.#writeChecksum(start);
  }

  #addText(ascii: string, bytesAfter: number): void {
    const requiredLength = this.#used + ascii.length + bytesAfter;
    if (requiredLength > this.#buffer.length) {
      const largerLength = Math.max(requiredLength, this.#buffer.length * 2);
      const largerBuffer = Buffer.allocUnsafeSlow(largerLength);
      this.#buffer.copy(largerBuffer, 0, 0, this.#used);
      this.#buffer = largerBuffer;
    }
    if (ascii !== '') this.#used += this.#buffer.write(ascii, this.#used, 'latin1');
  }

  /** The caller has reserved the byte. A text of one character would take fifty times as long. */
  #addByte(byte: number): void {
    this.#buffer[this.#used] = byte;
    this.#used += 1;
  }

  #writeChecksum(start: number): void {
    let crc = crc32(this.#buffer.subarray(start + CRC_END, this.#used - 1));
    for (let index = CRC_END - 1; index >= CRC_START; index -= 1) {
      this.#buffer[start + index] = HEX[crc & 15] ?? 0;
      crc >>>= 4;
    }
  }
}
