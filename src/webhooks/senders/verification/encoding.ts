/** Signatures and keys in text: hex in either case, base64 of either alphabet
 * (RFC 4648 §4 and §5) with or without padding. Pure. */
import type { Encoding } from '../scheme/scheme.ts';

const HEX = /^(?:[0-9a-fA-F]{2})+$/;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The bytes that `text` stands for; null when it is not of that encoding. */
export function decodeBytes(text: string, encoding: Encoding): Buffer | null {
  if (encoding === 'utf8') return Buffer.from(text, 'utf8');
  if (encoding === 'hex') return HEX.test(text) ? Buffer.from(text, 'hex') : null;
  if (!BASE64.test(text)) return null;
  const paddingAt = text.indexOf('=');
  const isWhole = paddingAt === -1 ? text.length % 4 !== 1
    : paddingAt % 4 !== 1 && text.length % 4 === 0;
  return isWhole ? Buffer.from(text, 'base64') : null;
}
