/**
 * Escapes values that are put into a text of some media type, so that what a sender says cannot
 * become markup or another field. Pure.
 */
import { FORM_TYPE, parseMediaType } from '../senders/request/parse-form.ts';

type EscapeValue = (value: string) => string;

/** Texts of other types than XML, HTML and forms have values as they are. */
export function chooseEscape(contentType: string): EscapeValue {
  const mediaType = parseMediaType(contentType);
  if (mediaType === FORM_TYPE) return escapeForForm;
  if (mediaType === 'text/html') return escapeForHtml;
  const isXml = ['text/xml', 'application/xml'].includes(mediaType) || mediaType.endsWith('+xml');
  return isXml ? escapeForXml : (value) => value;
}

/** Not in XML 1.0 (§2.2): control characters, lone surrogates and the two noncharacters. */
const OUTSIDE_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
const REPLACEMENT = '\ufffd';

function escapeForHtml(value: string): string {
  // The ampersand first: the others bring their own. A call for each sign would take ten times.
  return value.replace(OUTSIDE_XML, REPLACEMENT).replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}

/** A parser of XML would read a plain carriage return as a line feed. */
function escapeForXml(value: string): string {
  return escapeForHtml(value).replaceAll('\r', '&#13;');
}

/** As the value of a field (WHATWG URL §5.2). */
function escapeForForm(value: string): string {
  return new URLSearchParams({ '': value }).toString().slice('='.length);
}
