/** The rules for a `Content-Type` that a user configures, and the media types with rules. Pure. */
import type { StringSchema } from '../../../base/schema.ts';
import { quote } from '../../../base/text/error-message.ts';
import { parseMediaType } from '../../../base/text/parse-form.ts';

const LENGTH_MAX = 255;
/** A type and its parameters (RFC 9110 §8.3.1); values of parameters may be quoted. */
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
const PARAMETERS = /^(?: *; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[ !#-[\]-~]*"))*$/;
const CHARSET = /; *charset=("?)([^";]*)\1/i;

/** Bodies are always sent in UTF-8. */
export const contentTypeSchema: StringSchema = {
  kind: 'string', maxLength: LENGTH_MAX,
  mustBe: 'a media type such as text/xml or "text/plain; charset=utf-8"',
  canonical: (value) => findContentTypeProblem(value) === null ? value : null,
  explain: (value) => findContentTypeProblem(value) ?? '',
};

/** Why a Content-Type cannot be sent, as a clause ("must be …"); null: it can. */
export function findContentTypeProblem(value: string): string | null {
  const [mediaType = ''] = value.split(';', 1);
  if (!MEDIA_TYPE.test(mediaType.trimEnd()) || !PARAMETERS.test(value.slice(mediaType.length))) {
    return 'must be a media type such as text/xml or "text/plain; charset=utf-8", not '
      + quote(value);
  }
  const [, , charset] = CHARSET.exec(value) ?? [];
  return charset === undefined || charset.toLowerCase() === 'utf-8' ? null
    : `must have the charset utf-8, in which every body is sent, or none, not ${quote(charset)}`;
}

/** Whether bodies of the type are JSON, those that come as well as those that are made. */
export function isJsonType(contentType: string): boolean {
  const mediaType = parseMediaType(contentType);
  return mediaType === 'application/json' || mediaType === 'text/json'
    || mediaType.endsWith('+json');
}
