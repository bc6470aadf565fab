/**
 * Escapes values that are put into a text of some media type, so that what a sender says cannot
 * become markup or another field. Pure.
 */
import { FORM_TYPE, parseMediaType } from '../../../base/text/parse-form.ts';

type EscapeValue = (value: string) => string;

/** Texts of other types than XML, HTML and forms have values as they are. */
export function chooseEscape(contentType: string): EscapeValue {
  const mediaType = parseMediaType(contentType);
  if (mediaType === FORM_TYPE) return (value) => escapeBytes(value, FORM_TABLE);
  if (mediaType === 'text/html') return (value) => escapeMarkup(value, HTML_TABLE);
  const isXml = ['text/xml', 'application/xml'].includes(mediaType) || mediaType.endsWith('+xml');
  return isXml ? (value) => escapeMarkup(value, XML_TABLE) : (value) => value;
}

const NONCHARACTERS = /[\ufffe\uffff]/g;
const REPLACEMENT = '\ufffd';

const HTML_TEXTS: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;',
};
/** A parser of XML would read a plain carriage return as a line feed. */
const XML_TEXTS: Readonly<Record<string, string>> = { ...HTML_TEXTS, '\r': '&#13;' };

const TEXT_BYTES_MAX = 8;

/** The text that stands for each byte of UTF-8: its length, and its bytes in eight places. */
type ByteTable = { readonly lengths: Uint8Array; readonly texts: Uint8Array };

const HTML_TABLE = createTable((character) => HTML_TEXTS[character] ?? replaceControl(character));
const XML_TABLE = createTable((character) => XML_TEXTS[character] ?? replaceControl(character));
/** Escapes the value of a field (WHATWG URL §5.2). */
const FORM_TABLE = createTable((character, byte) => {
  if (character === ' ') return '+';
  return /[\w*.-]/.test(character) && byte < 0x80 ? undefined
    : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** `textOf` gives undefined for a byte that stays. */
function createTable(
  textOf: (character: string, byte: number) => string | undefined,
): ByteTable {
  const lengths = new Uint8Array(256);
  const texts = new Uint8Array(256 * TEXT_BYTES_MAX);
  for (let byte = 0; byte < 256; byte += 1) {
    const text = textOf(String.fromCharCode(byte), byte);
    const bytes = text === undefined ? Buffer.of(byte) : Buffer.from(text);
    lengths[byte] = bytes.length;
    texts.set(bytes, byte * TEXT_BYTES_MAX);
  }
  return { lengths, texts };
}

/** Control characters are not in XML 1.0 (§2.2). */
function replaceControl(character: string): string | undefined {
  return character < ' ' && !'\t\n\r'.includes(character) ? REPLACEMENT : undefined;
}

/** Replaces what is not in XML 1.0 (§2.2) either: lone surrogates and the two noncharacters. */
function escapeMarkup(value: string, table: ByteTable): string {
  // The encoding as UTF-8 replaces lone surrogates.
  return escapeBytes(value.replace(NONCHARACTERS, REPLACEMENT), table);
}

/**
 * Byte by byte, into memory of the final length: a megabyte of signs that are escaped takes some
 * 15 ms of CPU, and 0.2 s by `String.replaceAll` or `URLSearchParams`.
 */
function escapeBytes(value: string, { lengths, texts }: ByteTable): string {
  const bytes = Buffer.from(value);
  const escapedBytes = Buffer.allocUnsafe(measureEscaped(bytes, lengths));
  let length = 0;
  for (let offset = 0; offset < bytes.length; offset += 1) {
    const byte = bytes[offset] ?? 0;
    const end = length + (lengths[byte] ?? 0);
    let from = byte * TEXT_BYTES_MAX;
    for (; length < end; length += 1, from += 1) escapedBytes[length] = texts[from] ?? 0;
  }
  return escapedBytes.toString();
}

function measureEscaped(bytes: Buffer, lengths: Uint8Array): number {
  let length = 0;
  for (let offset = 0; offset < bytes.length; offset += 1) {
    length += lengths[bytes[offset] ?? 0] ?? 0;
  }
  return length;
}
