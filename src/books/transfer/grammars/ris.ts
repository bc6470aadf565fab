/**
 * RIS, the tagged format of Research Information Systems (Reference Manager, EndNote, Zotero):
 *
 *   file   = *( text line ) *( record *( text line ) )
 *   record = "TY  - " kind  *( field / continuation / blank line )  "ER  - "
 *   field  = tag "  - " value     ; tag: a capital and a capital or digit
 *
 * Lines end with CR LF, LF or CR. Programs write one blank before the dash, or none after it; both
 * are read. Without a blank before it a tag is one in a record that begins so, `TY-BOOK`, and where
 * the whole line is a TY or an ER; `UV-light` is text. An `ER` without a dash ends a record where
 * the next one or the end of the file follows. A line without a tag continues the field before it
 * after a blank, except keywords, where it is one more keyword, as EndNote writes them. A tag that
 * comes again is one more value.
 *
 * Valid is a record from its TY to its ER, or to the next TY where its ER was forgotten. Text
 * between records is no part of any, such as the numbers and the provider's name that some sites
 * write. Broken is a record that
 * - the end of the file cuts: nobody can tell whether it is all there;
 * - is longer than a record may be (it is skipped up to its end), or not UTF-8;
 * - has fields but no TY.
 * A file with text and without any record is broken at its first line.
 */
import { isJsonNumber } from '../../../base/exact-number.ts';
import { isUtf8 } from 'node:buffer';
import type { JsonValue } from '../../../base/schema.ts';
import type { BrokenRecord, FieldRecord, Fields, FieldSplitter } from '../mapping/format-table.ts';
import { RECORD_BYTES_MAX, RecordBytes, TOO_LONG } from '../record-splitter.ts';

/** The field that holds what other fields cannot say; written as a user-defined one. */
export const RIS_REST_FIELD = 'hookshelf';
const REST_TAG = 'U5';
const REST_PREFIX = `${RIS_REST_FIELD}:`;

export const DEFAULT_KIND = 'BOOK';
const KIND_TAG = 'TY';
const END_TAG = 'ER';
const ID_TAG = 'ID';
const KEYWORD_TAG = 'KW';

const TAG_LINE = /^([A-Z][A-Z0-9]) {1,2}-(.*)$/s;
const TIGHT_TAG_LINE = /^([A-Z][A-Z0-9])-(.*)$/s;
const TIGHT_BOUNDARY_LINE = /^(TY(?=-\s*[A-Z]{2,20}\s*$)|ER(?=-\s*$))-(.*)$/s;
const TAG = /^[A-Z][A-Z0-9]$/;
const KIND = /^[A-Z]{1,20}$/;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;

type OpenRecord = {
  readonly line: number;
  readonly kind: string;
  readonly values: Map<string, string[]>;
  /** Whether no blank stands between its tags and their dashes. */
  readonly isTight: boolean;
  /** The tag of the field that a line without one continues. */
  lastTag: string;
  /** Whether its last line with text is an `ER` without a dash, which may be a word of a text. */
  hasBareEnd: boolean;
  bytes: number;
  problem: string | null;
};

type RisRecord = FieldRecord | BrokenRecord;

export class RisSplitter implements FieldSplitter {
  readonly #lineBytes = new RecordBytes();
  #line = 1;
  /** The byte before was a CR: an LF belongs to it. */
  #isAfterReturn = false;
  #record: OpenRecord | null = null;
  #hasRecord = false;
  /** The first line with text, while no record has come. */
  #strayLine: number | null = null;
  /** Fields without a TY were reported, and no record has come since. */
  #isReported = false;
  #records: RisRecord[] = [];

  push(chunk: Buffer): readonly RisRecord[] {
    this.#records = [];
    let start = 0;
    for (let offset = 0; offset < chunk.length; offset += 1) {
      const byte = chunk[offset];
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
        this.#isAfterReturn = false;
        continue;
      }
      if (byte === LINE_FEED && this.#isAfterReturn) {
        this.#isAfterReturn = false;
      } else {
        this.#isAfterReturn = byte === CARRIAGE_RETURN;
        this.#lineBytes.add(chunk.subarray(start, offset));
        this.#endLine();
      }
      start = offset + 1;
    }
    this.#lineBytes.add(chunk.subarray(start));
    return this.#records;
  }

  end(): readonly RisRecord[] {
    this.#records = [];
    if (!this.#lineBytes.isEmpty) this.#endLine();
    if (this.#record !== null) {
      if (!this.#record.hasBareEnd) {
        this.#record.problem ??= 'the file ends within this record: its last line, `ER  - `, is '
          + 'missing';
      }
      this.#endRecord();
    } else if (!this.#hasRecord && !this.#isReported && this.#strayLine !== null) {
      this.#reportStray(this.#strayLine);
    }
    return this.#records;
  }

  #endLine(): void {
    const isTooLong = this.#lineBytes.isTooLong;
    const bytes = this.#lineBytes.take();
    const line = this.#line;
    this.#line += 1;
    const { length } = bytes ?? Buffer.alloc(0);
    if (this.#record !== null) this.#record.bytes += isTooLong ? RECORD_BYTES_MAX + 1 : length + 1;
    const isBroken = bytes !== null && !isUtf8(bytes);
    // The tag of a line is ASCII, so it can be told where the rest of the line is no UTF-8.
    const text = bytes === null ? '' : bytes.toString(isBroken ? 'latin1' : 'utf8');
    // Files that were put together have the mark of the second within.
    const { tag, value, isTight } = this.#readTag(text.startsWith('\ufeff') ? text.slice(1) : text);
    if (tag === KIND_TAG) this.#begin(line, value.trim(), isTight);
    if (isBroken && this.#record !== null) this.#record.problem ??= 'not valid UTF-8';
    if (this.#record === null) {
      this.#addStray(line, tag, isTooLong || text.trim() !== '');
    } else if (tag !== KIND_TAG) {
      addValue(this.#record, tag, tag === '' ? text : value);
      if (tag === END_TAG) this.#endRecord();
    }
  }

  #readTag(text: string): {
    readonly tag: string; readonly value: string; readonly isTight: boolean;
  } {
    const tightLine = this.#record?.isTight === true ? TIGHT_TAG_LINE : TIGHT_BOUNDARY_LINE;
    const match = TAG_LINE.exec(text);
    const [, tag = '', value = ''] = match ?? tightLine.exec(text) ?? [];
    return { tag, value, isTight: match === null };
  }

  #begin(line: number, kind: string, isTight: boolean): void {
    if (this.#record !== null) this.#endRecord();
    this.#record = {
      line, kind, values: new Map(), isTight, lastTag: '', hasBareEnd: false, bytes: 0,
      problem: null,
    };
    this.#hasRecord = true;
    this.#isReported = false;
  }

  #endRecord(): void {
    const record = this.#record;
    if (record === null) return;
    this.#record = null;
    const { line, values, kind } = record;
    const [key = null] = values.get(ID_TAG) ?? [];
    if (record.problem !== null) this.#records.push({ line, key, problem: record.problem });
    else this.#records.push({ line, key, type: kind, fields: createFields(record) });
  }

  #addStray(line: number, tag: string, hasText: boolean): void {
    if (tag === END_TAG || !hasText) return;
    this.#strayLine ??= line;
    if (tag !== '' && !this.#isReported) this.#reportStray(line);
  }

  #reportStray(line: number): void {
    const problem = 'expected `TY  - `, the first line of a RIS record, such as `TY  - BOOK`';
    this.#records.push({ line, key: null, problem });
    this.#isReported = true;
  }
}

function addValue(record: OpenRecord, tag: string, text: string): void {
  if (record.bytes > RECORD_BYTES_MAX) {
    record.problem ??= TOO_LONG;
    record.values.clear();
  }
  const value = text.trim();
  if (tag === '' && value === '') return;
  if (record.hasBareEnd) addText(record, '', END_TAG);
  record.hasBareEnd = tag === '' && value === END_TAG;
  if (!record.hasBareEnd) addText(record, tag, value);
}

/** Adds a value, or goes on with the last one where there is no tag. */
function addText(record: OpenRecord, tag: string, value: string): void {
  if (tag !== '') record.lastTag = tag;
  if (value === '' || record.problem !== null || record.lastTag === '') return;
  const values = record.values.get(record.lastTag) ?? [];
  record.values.set(record.lastTag, values);
  const isNew = tag !== '' || values.length === 0 || record.lastTag === KEYWORD_TAG;
  if (isNew) values.push(value);
  else values.push(`${values.pop()} ${value}`);
}

function createFields({ kind, values }: OpenRecord): Fields {
  const fields = new Map<string, JsonValue>();
  if (kind !== DEFAULT_KIND && kind !== '') fields.set(KIND_TAG, kind);
  for (const [tag, texts] of values) {
    const rest = tag === REST_TAG
      ? texts.find((text) => text.startsWith(REST_PREFIX)) : undefined;
    if (rest !== undefined) fields.set(RIS_REST_FIELD, rest.slice(REST_PREFIX.length));
    const others = texts.filter((text) => text !== rest);
    const [first] = others;
    if (first !== undefined) fields.set(tag, others.length === 1 ? first : others);
  }
  return fields;
}

/** The values of a field: texts, where it holds texts or numbers. */
export function listTexts(value: JsonValue | undefined): readonly string[] {
  const values = Array.isArray(value) ? value as readonly JsonValue[] : [value ?? null];
  return values.filter((item) => typeof item === 'string' || isJsonNumber(item)).map(String);
}

/** A text as one line: a run of blanks, and of what some program takes for a line's end, is one. */
export function joinLines(text: string): string {
  return text.replace(/[ \t\n\v\f\r\u0085\u2028\u2029]+/g, ' ').trim();
}

/** A record as it stands in a file; fields whose names are no tags are left out. */
export function encodeRisRecord(key: string, fields: Fields): string {
  const [kind = ''] = listTexts(fields.get(KIND_TAG));
  const lines = [`${KIND_TAG}  - ${KIND.test(kind) ? kind : DEFAULT_KIND}`];
  const id = joinLines(key);
  if (id !== '') lines.push(`${ID_TAG}  - ${id}`);
  for (const [tag, value] of fields) {
    if (!TAG.test(tag) || tag === KIND_TAG || tag === END_TAG || tag === ID_TAG) continue;
    for (const text of listTexts(value).map(joinLines)) {
      if (text !== '') lines.push(`${tag}  - ${text}`);
    }
  }
  const [rest] = listTexts(fields.get(RIS_REST_FIELD));
  if (rest !== undefined) lines.push(`${REST_TAG}  - ${REST_PREFIX}${escapeLineEnds(rest)}`);
  return `${lines.join('\r\n')}\r\n${END_TAG}  - \r\n\r\n`;
}

// JSON may hold them as they are; some programs would end the line there.
function escapeLineEnds(json: string): string {
  return json.replace(/[\v\f\u0085\u2028\u2029]/g, (character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
