/**
 * Encodings of signatures and keys: hex in either case, base64 of either alphabet (RFC 4648 §4 and
 * §5) with or without padding. Pure.
 */
import { isUtf8 } from 'node:buffer';
import type { Encoding } from '../scheme/scheme.ts';

const HEX = /^(?:[0-9a-fA-F]{2})+$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** null: the text is not of that encoding. */
export function decodeBytes(text: string, encoding: Encoding): Buffer | null {
  if (encoding === 'utf8') return Buffer.from(text, 'utf8');
  if (encoding === 'hex') return HEX.test(text) ? Buffer.from(text, 'hex') : null;
  if (!BASE64.test(text)) return null;
  const paddingAt = text.indexOf('=');
  const isWhole = paddingAt === -1 ? text.length % 4 !== 1
    : paddingAt % 4 !== 1 && text.length % 4 === 0;
  return isWhole ? Buffer.from(text, 'base64') : null;
}

/**
 * The text of a header. Node reads headers as Latin-1, and most senders write UTF-8: valid UTF-8
 * was meant as such, anything else was Latin-1. A header given for a diagnosis may be neither.
 */
export function decodeHeaderText(read: string): string {
  const bytes = Buffer.from(read, 'latin1');
  return isUtf8(bytes) && bytes.toString('latin1') === read ? bytes.toString('utf8') : read;
}

/** The Latin-1 text that makes Node write UTF-8. */
export function encodeHeaderText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
