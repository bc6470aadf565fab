/** Members that several resources have, and the schemas of their values. */
import { TIMER_SECONDS_MAX } from '../../base/clock.ts';
import type { JsonValue, MemberSchema, StringSchema } from '../../base/schema.ts';

const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const UUID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DESCRIPTION_LENGTH_MAX = 500;
const SCHEDULE_ITEMS_MAX = 100;

/** An identifier or a name that the caller chooses. */
export const slugSchema: StringSchema = {
  kind: 'string', pattern: SLUG_PATTERN,
  mustBe: '1-64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit',
};

/** A webhook's name stands wherever its identifier may, so it must not look like an identifier. */
const nameSchema: StringSchema = {
  ...slugSchema,
  mustBe: `${slugSchema.mustBe}, and not of a UUID's form`,
  canonical: (value) => UUID_FORM.test(value) ? null : value,
};

/** The name of a webhook. `uniqueness` ends its description: "no other … has it". */
export function createNameMember(uniqueness: string) {
  return {
    schema: nameSchema,
    description: 'What people call it, also in place of its identifier: 1-64 of a-z, 0-9, `.`, `_` '
      + `and \`-\`. ${uniqueness}`,
    option: { placeholder: '<slug>' },
  } as const satisfies MemberSchema;
}

export const descriptionMember = {
  schema: { kind: 'string', maxLength: DESCRIPTION_LENGTH_MAX },
  description: 'What it is for, and whose it is',
} as const satisfies MemberSchema;

export const configurationMember = {
  schema: { kind: 'string', minLength: 1, maxLength: 128 }, label: 'Action',
  form: { field: 'action' },
  option: {
    name: 'action-config', placeholder: '<identifier>', completes: 'action-configurations',
  },
} as const satisfies MemberSchema;

/** Seconds to wait before each retry. */
export const retryScheduleMember = {
  schema: {
    kind: 'array', maxItems: SCHEDULE_ITEMS_MAX,
    items: { kind: 'number', minimum: 0, maximum: TIMER_SECONDS_MAX },
  },
  form: { group: 'more', item: 'Wait', field: 'retries' },
  option: { placeholder: '<seconds,… | none>' },
} as const satisfies MemberSchema;

/** The first value that is a text, such as a webhook's name or else its path; null: none is. */
export function firstText(...values: readonly (JsonValue | undefined)[]): string | null {
  return values.find((value) => typeof value === 'string') ?? null;
}
