/** Headers of a request that somebody writes down for us to look at. */
import type { IncomingHttpHeaders } from 'node:http';
import type { FieldError } from '../../../base/errors.ts';
import { invalid, pointerStep } from '../../../base/fields.ts';
import type { Member } from '../../../base/schema.ts';

const HEADERS_BYTES_MAX = 64 * 1024;

export const givenHeadersMember: Member = {
  schema: { kind: 'json', isObject: true, bytesMax: HEADERS_BYTES_MAX, depthMax: 3 },
  description: 'As they came: names and values; of one that came repeatedly an array',
};

/** Names and values in turn. Throws `invalid`. */
export function rawHeadersOf(headers: unknown): string[] {
  const errors: FieldError[] = [];
  const raw = Object.entries(headers ?? {}).flatMap(([name, value]: [string, unknown]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.every((one) => typeof one === 'string')) {
      return values.flatMap((one) => [name, String(one).trim()]);
    }
    errors.push({
      pointer: `/headers${pointerStep(name)}`, detail: 'must be a string, or an array of strings',
    });
    return [];
  });
  if (errors.length > 0) throw invalid(errors);
  return raw;
}

// As Node does for a server: of these the first counts, others are joined.
const SINGLE = [
  'authorization', 'content-length', 'content-type', 'host', 'proxy-authorization', 'user-agent',
];

export function joinHeaders(raw: readonly string[]): IncomingHttpHeaders {
  const joined = new Map<string, string>();
  for (let index = 0; index < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2);
    const lower = name.toLowerCase();
    const before = joined.get(lower);
    if (before === undefined) joined.set(lower, value);
    else if (!SINGLE.includes(lower)) joined.set(lower, `${before}, ${value}`);
  }
  return Object.fromEntries(joined);
}
