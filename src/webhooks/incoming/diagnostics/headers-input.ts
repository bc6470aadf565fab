/** The headers of a request that a person describes. */
import type { FieldError } from '../../../base/errors.ts';
import { invalid, pointerStep } from '../../../base/fields.ts';
import type { MemberSchema } from '../../../base/schema.ts';

const HEADERS_BYTES_MAX = 64 * 1024;

export const headersMember: MemberSchema = {
  schema: { kind: 'json', isObject: true, bytesMax: HEADERS_BYTES_MAX, depthMax: 3 },
  description: 'As they came: names and values; of one that came repeatedly an array',
};

/** Gives names and values in turn. Throws `invalid`. */
export function parseRawHeaders(headers: unknown): string[] {
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
