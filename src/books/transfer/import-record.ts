/**
 * A book as an import brings it: like a request body, but with the id and the dates it had before.
 */
import type { FieldError } from '../../base/errors.ts';
import { invalid, isJsonObject, readObjectInto } from '../../base/fields.ts';
import type { JsonObject, ObjectSchema } from '../../base/schema.ts';
import { isUuid } from '../../base/uuid.ts';
import { bookSchema } from '../book.ts';
import { isRealDate } from '../partial-date.ts';

/** What is null is given by the import: a new id, the time of the import. */
export type ImportRecord = {
  readonly id: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  /** The book without its id and dates. */
  readonly fields: JsonObject;
};

/** The same table, published and checked with the id and the dates that an import may hold. */
export const importSchema: ObjectSchema & { readonly name: string } = {
  ...bookSchema,
  name: 'ImportedBook',
  members: {
    ...bookSchema.members,
    id: {
      description: 'Any RFC 9562 UUID, stored in lower case. Assigned when absent.',
      schema: {
        kind: 'string', format: 'uuid', description: 'a UUID', canonical: parseUuid,
        numberHint: 'ids are UUIDs',
      },
    },
    createdAt: { schema: timestampSchema(), description: 'Kept; the time of import when absent.' },
    updatedAt: { schema: timestampSchema(), description: 'Kept; `createdAt` when absent.' },
  },
  check: ({ createdAt, updatedAt }) =>
    typeof createdAt === 'string' && typeof updatedAt === 'string' && updatedAt < createdAt
      ? [{ pointer: '/updatedAt', detail: 'must not be before `createdAt`' }] : [],
};

/** Throws `invalid` with every error found. */
export function parseImportRecord(value: unknown): ImportRecord {
  const errors: FieldError[] = [];
  const parsed = readObjectInto(importSchema, value, errors);
  if (errors.length > 0 || !isJsonObject(parsed)) throw invalid(errors);
  const { id, createdAt, updatedAt, ...fields } = parsed;
  return {
    id: textOrNull(id), createdAt: textOrNull(createdAt), updatedAt: textOrNull(updatedAt), fields,
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function parseUuid(text: string): string | null {
  const lower = text.toLowerCase();
  return isUuid(lower) ? lower : null;
}

function timestampSchema() {
  return {
    kind: 'string', format: 'date-time', canonical: parseTimestamp,
    description: 'an RFC 3339 time, such as 2026-01-31T12:00:00.000Z',
  } as const;
}

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** An RFC 3339 time in UTC with milliseconds, or null when it is none. Leap seconds are none. */
function parseTimestamp(text: string): string | null {
  const match = TIMESTAMP.exec(text);
  if (match === null) return null;
  if (!isRealDate(Number(match[1]), Number(match[2]), Number(match[3]))) return null;
  const ms = Date.parse(text.toUpperCase());
  if (Number.isNaN(ms)) return null;
  const canonical = new Date(ms).toISOString();
  // An offset may push the time out of the years 0001 to 9999; a sign sorts before the digits.
  return canonical >= '0001' ? canonical : null;
}
