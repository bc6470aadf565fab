/**
 * The members of an incoming webhook that say how its bodies are read, and their rules. What they
 * do is in body-format.ts.
 */
import type { FieldError } from '../../base/errors.ts';
import type { JsonObject, MemberSchema } from '../../base/schema.ts';
import { readScheme } from '../senders/presets/preset-table.ts';
import { BODY_FORMATS, resolveSchemeFormat, type BodyFormat } from './body-format.ts';

const JSON_FIELDS_MAX = 20;
const FIELD_NAME_LENGTH_MAX = 128;
const FORMATS_WITH_FIELDS: readonly BodyFormat[] = ['form', 'multipart', 'auto'];

export const bodyMembers: Readonly<Record<string, MemberSchema>> = {
  bodyFormat: {
    schema: { kind: 'string', values: BODY_FORMATS },
    description: 'How the payload is made of the body; absent: auto with a `verification` whose '
      + 'scheme says nothing else, json without',
  },
  jsonFields: {
    schema: {
      kind: 'array', maxItems: JSON_FIELDS_MAX, isUnique: true,
      items: { kind: 'string', minLength: 1, maxLength: FIELD_NAME_LENGTH_MAX },
    },
    description: 'Names of fields of a form or of a multipart body: where one holds JSON, the '
      + 'payload has that JSON in its place; any other text stays text',
  },
};

/** Refuses `jsonFields` where no body is read as a form. */
export function findBodyProblems(
  { bodyFormat, jsonFields, verification }: JsonObject,
): FieldError[] {
  if (!Array.isArray(jsonFields)) return [];
  const pointer = '/jsonFields';
  if (jsonFields.length === 0) {
    return [{ pointer, detail: 'must name a field; null removes the member' }];
  }
  const scheme = verification === undefined ? null : readScheme(verification);
  const usedFormat = bodyFormat ?? resolveSchemeFormat(scheme);
  const hasFields = FORMATS_WITH_FIELDS.some((format) => format === usedFormat);
  return hasFields ? []
    : [{ pointer, detail: `needs the bodyFormat ${FORMATS_WITH_FIELDS.join(', ')}` }];
}
